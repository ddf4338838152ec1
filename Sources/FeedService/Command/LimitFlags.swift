internal import ArgumentParser

struct LimitFlags: ParsableArguments {
    @Option(
        name: .long,
        parsing: .unconditional,
        help: LimitFlags.help(
            "The votes that the callers of a key, or of a host without one, may cast in a second",
            default: IdentityLimits().votesPerSecond
        )
    )
    var maxVotesPerSecond: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: LimitFlags.help(
            "The other calls that they may make in a second",
            default: IdentityLimits().callsPerSecond
        )
    )
    var maxCallsPerSecond: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: LimitFlags.help(
            "The connections that they may have",
            default: IdentityLimits().connectionCount
        )
    )
    var maxConnectionsEach: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "The new channels that they may open in a minute, from this machine, too. (default: "
                + "\(ServiceLimits().newChannelsPerHostMinute))",
            valueName: "count"
        )
    )
    var maxNewChannelsPerMinute: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: ArgumentHelp(
            "The new devices that they may vote as in a minute, from this machine, too. (default: "
                + "\(ServiceLimits().newDevicesPerPeerMinute))",
            valueName: "count"
        )
    )
    var maxNewDevicesPerMinute: String?

    @Flag(
        name: .long,
        help:
            "Limit votes, calls and connections of callers from this machine, too: behind a proxy."
    )
    var limitLoopback = false

    private static func help(_ text: String, default count: Int) -> ArgumentHelp {
        ArgumentHelp(
            "\(text), from other machines; 0 is no limit. (default: \(count))",
            valueName: "count"
        )
    }
}

extension ServiceLimits {
    /// Takes the limits that flags name; each error is one sentence with flag, value and limit.
    mutating func take(_ flags: LimitFlags) throws(ServiceStartError) {
        func count(
            _ text: String?,
            _ flag: String,
            from least: Int
        ) throws(ServiceStartError) -> Int? {
            guard let text else { return nil }
            let greatest = Self.greatestFlagLimit
            guard let count = Int(text), (least...greatest).contains(count) else {
                throw .badFlag(flag, "expected \(least) to \(greatest), got \(text).")
            }
            return count
        }
        if let votes = try count(flags.maxVotesPerSecond, "--max-votes-per-second", from: 0) {
            identities.votesPerSecond = votes
        }
        if let calls = try count(flags.maxCallsPerSecond, "--max-calls-per-second", from: 0) {
            identities.callsPerSecond = calls
        }
        if let each = try count(flags.maxConnectionsEach, "--max-connections-each", from: 0) {
            identities.connectionCount = each
        }
        let channels = "--max-new-channels-per-minute"
        if let each = try count(flags.maxNewChannelsPerMinute, channels, from: 1) {
            newChannelsPerHostMinute = each
            newChannelsPerHost = min(newChannelsPerHost, each)
        }
        let devices = "--max-new-devices-per-minute"
        if let each = try count(flags.maxNewDevicesPerMinute, devices, from: 1) {
            newDevicesPerPeerMinute = each
        }
        identities.limitsLoopback = flags.limitLoopback
    }

    /// The greatest limit that a flag may name: more than a machine executes.
    private static let greatestFlagLimit = 10_000_000
}
