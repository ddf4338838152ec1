internal import ArgumentParser

struct PostFlags: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Who may create posts, beside services and local callers: anyone, users, who have "
                + "signed in, or services, which is nobody else. (default: anyone)",
            valueName: "who"
        )
    )
    var postsFrom: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: PostFlags.help(
            "The posts that a host, a device and a user may create in an hour",
            default: PostFlags.text(PostLimits().countPerHour)
        )
    )
    var maxPostsPerHour: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: PostFlags.help(
            "The bytes of their texts, of new posts and of edits",
            default: PostFlags.text(PostLimits().bytesPerHour)
        )
    )
    var maxPostBytesPerHour: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "The memory that all posts may take, as 512MiB or 4GiB; beyond it new posts are "
                + "refused. 0 is no limit. (default: half of what the process may use)",
            valueName: "bytes"
        )
    )
    var maxPostMemory: String?

    private static func help(_ text: String, default limits: String) -> ArgumentHelp {
        ArgumentHelp(
            "\(text), from other machines; one that is not named stays, and 0 is no limit. "
                + "(default: \(limits))",
            valueName: "limits"
        )
    }

    private static func text(_ limits: PostLimits.Hourly) -> String {
        func text(_ count: Int) -> String {
            count >= 1 << 20 && count % (1 << 20) == 0 ? "\(count >> 20)MiB" : "\(count)"
        }
        return "host=\(text(limits.host)),device=\(text(limits.device)),user=\(text(limits.user))"
    }
}

extension PostLimits {
    /// Takes the limits that flags name; each error is one sentence with flag, value and limit.
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
            try bytesPerHour.take(text, "--max-post-bytes-per-hour", from: Self.leastByteCount)
        }
        memoryByteCount = ProcessMemory().byteCount / 2
        if let text = flags.maxPostMemory {
            guard let count = ByteCountFlag.read(text), count == 0 || count >= Self.leastMemory
            else {
                throw .badFlag("--max-post-memory", "expected 0, or 1MiB or more, got \(text).")
            }
            memoryByteCount = count
        }
    }

    /// The least bytes of an hour: more than the greatest post.
    private static let leastByteCount = 128 << 10
    /// The least memory of all posts.
    private static let leastMemory = 1 << 20
}

extension PostLimits.Hourly {
    /// Takes the limits of a text as `host=3600,user=200`.
    fileprivate mutating func take(
        _ text: String,
        _ flag: String,
        from least: Int
    ) throws(ServiceStartError) {
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = part.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let count = ByteCountFlag.read(sides[1]),
                count == 0 || count >= least, let limit = Self.limits[String(sides[0])]
            else {
                throw .badFlag(
                    flag,
                    "expected limits of host, device and user, each 0 or \(least) to "
                        + "\(ByteCountFlag.greatest), as host=\(host),user=\(user); got \(text)."
                )
            }
            self[keyPath: limit] = count
        }
    }

    private static var limits: [String: WritableKeyPath<Self, Int>] {
        ["host": \.host, "device": \.device, "user": \.user]
    }
}
