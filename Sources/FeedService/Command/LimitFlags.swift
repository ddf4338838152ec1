internal import ArgumentParser

/// The flags of what each key and each host may do.
struct LimitFlags: ParsableArguments {
    @Option(
        "count",
        LimitFlags.help(
            "The votes that the callers of a key, or of a host without one, may cast in a second",
            default: IdentityLimits().votesPerSecond
        ),
        isAnyWord: true
    )
    var maxVotesPerSecond: String?

    @Option(
        "count",
        LimitFlags.help(
            "The other calls that they may make in a second",
            default: IdentityLimits().callsPerSecond
        ),
        isAnyWord: true
    )
    var maxCallsPerSecond: String?

    @Option(
        "count",
        LimitFlags.help(
            "The connections that they may have",
            default: IdentityLimits().connectionCount
        ),
        isAnyWord: true
    )
    var maxConnectionsEach: String?

    @Option(
        "count",
        "The new channels that they may open in a minute, from this machine, too. (default: "
            + "\(ChannelLimits().newChannelsPerMinute))",
        isAnyWord: true
    )
    var maxNewChannelsPerMinute: String?

    @Option(
        "count",
        "The new devices that they may vote as in a minute, from this machine, too. (default: "
            + "\(ServiceLimits().newDevicesPerPeerMinute))",
        isAnyWord: true
    )
    var maxNewDevicesPerMinute: String?

    @Flag(
        help:
            "Limit votes, calls and connections of callers from this machine, too: behind a proxy."
    )
    var limitLoopback = false

    private static func help(_ text: String, default count: Int) -> String {
        "\(text), from other machines; 0 is no limit. (default: \(count))"
    }
}

extension ServiceLimits {
    mutating func take(_ flags: LimitFlags) throws(ServiceStartError) {
        // More than a machine executes.
        let greatest = 10_000_000
        if let text = flags.maxVotesPerSecond {
            let flag = "--max-votes-per-second"
            identities.votesPerSecond = try FlagValue.number(text, flag, in: 0...greatest)
        }
        if let text = flags.maxCallsPerSecond {
            let flag = "--max-calls-per-second"
            identities.callsPerSecond = try FlagValue.number(text, flag, in: 0...greatest)
        }
        if let text = flags.maxConnectionsEach {
            let flag = "--max-connections-each"
            identities.connectionCount = try FlagValue.number(text, flag, in: 0...greatest)
        }
        if let text = flags.maxNewChannelsPerMinute {
            let flag = "--max-new-channels-per-minute"
            channels.newChannelsPerMinute = try FlagValue.number(text, flag, in: 1...greatest)
            channels.newChannelBurst = min(channels.newChannelBurst, channels.newChannelsPerMinute)
        }
        if let text = flags.maxNewDevicesPerMinute {
            let flag = "--max-new-devices-per-minute"
            newDevicesPerPeerMinute = try FlagValue.number(text, flag, in: 1...greatest)
        }
        identities.limitsLoopback = flags.limitLoopback
    }
}

/// The flags of who may create posts, and how much.
struct PostFlags: ParsableArguments {
    @Option(
        "who",
        "Who may create posts, beside services and local callers: anyone, users, who have "
            + "signed in, or services, which is nobody else. (default: anyone)"
    )
    var postsFrom: String?

    @Option(
        "limits",
        PostFlags.help(
            "The posts that a host, a device and a user may create in an hour",
            default: PostLimits().countPerHour
        ),
        isAnyWord: true
    )
    var maxPostsPerHour: String?

    @Option(
        "limits",
        PostFlags.help(
            "The bytes of their texts, of new posts and of edits",
            default: PostLimits().bytesPerHour
        ),
        isAnyWord: true
    )
    var maxPostBytesPerHour: String?

    @Option(
        "bytes",
        "The memory that all posts may take, as 512MiB or 4GiB; beyond it new posts are "
            + "refused. 0 is no limit. (default: half of what the process may use)",
        isAnyWord: true
    )
    var maxPostMemory: String?

    private static func help(_ text: String, default limits: PostLimits.Hourly) -> String {
        func written(_ count: Int) -> String {
            count >= 1 << 20 && count % (1 << 20) == 0 ? "\(count >> 20)MiB" : "\(count)"
        }
        return "\(text), from other machines; one that is not named stays, and 0 is no limit. "
            + "(default: host=\(written(limits.host)),device=\(written(limits.device)),"
            + "user=\(written(limits.user)))"
    }
}

extension PostLimits {
    mutating func take(_ flags: PostFlags) throws(ServiceStartError) {
        if let name = flags.postsFrom {
            guard let creators = Creators(rawValue: name) else {
                throw .badFlag("--posts-from", "expected anyone, users or services, got \(name).")
            }
            self.creators = creators
        }
        if let text = flags.maxPostsPerHour {
            try countPerHour.take(text, "--max-posts-per-hour", from: 1)
        }
        if let text = flags.maxPostBytesPerHour {
            // More than the greatest post.
            try bytesPerHour.take(text, "--max-post-bytes-per-hour", from: 128 << 10)
        }
        memoryByteCount = ProcessMemory().byteCount / 2
        if let text = flags.maxPostMemory {
            guard let count = FlagValue.byteCount(text), count == 0 || count >= 1 << 20 else {
                throw .badFlag("--max-post-memory", "expected 0, or 1MiB or more, got \(text).")
            }
            memoryByteCount = count
        }
    }
}

extension PostLimits.Hourly {
    /// Takes the limits of a text as `host=3600,user=200`.
    fileprivate mutating func take(
        _ text: String,
        _ flag: String,
        from least: Int
    ) throws(ServiceStartError) {
        let limits: [String: WritableKeyPath<Self, Int>] = [
            "host": \.host, "device": \.device, "user": \.user,
        ]
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let count = FlagValue.byteCount(sides[1]),
                count == 0 || count >= least, let limit = limits[String(sides[0])]
            else {
                throw .badFlag(
                    flag,
                    "expected limits of host, device and user, each 0 or \(least) to "
                        + "\(FlagValue.greatestByteCount), as host=\(host),user=\(user); got \(text)."
                )
            }
            self[keyPath: limit] = count
        }
    }
}
