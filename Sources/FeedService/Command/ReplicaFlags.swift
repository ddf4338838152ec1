internal import ArgumentParser
internal import FeedState

/// The flags of a service that is one of a cluster's.
struct ReplicaFlags: ParsableArguments {
    @Option(
        "socket",
        "The Unix socket of this machine's feed-replica: the service is one of a cluster's, and "
            + "follows until it leads. (default: none)"
    )
    var replica: String?

    @Option(
        "host:port",
        "Where clients reach this service: the others of the cluster tell them, while it leads."
    )
    var advertise: String?

    @Option(
        "time",
        "A follower refuses reads once it has not heard of its leader for so long: 100ms to 1h, in "
            + "milliseconds (ms), seconds (s), minutes (m) or hours (h). "
            + "(default: \(Int(ServiceLimits().maximumStaleness / .seconds(1)))s)",
        isAnyWord: true
    )
    var maxStaleness: String?
}

extension ServiceConfiguration {
    /// Takes the flags of a cluster, which need a state directory and `--replica`.
    mutating func take(
        _ flags: ReplicaFlags,
        _ command: FeedServiceCommand
    ) throws(ServiceStartError) {
        let others = [("--advertise", flags.advertise), ("--max-staleness", flags.maxStaleness)]
        guard let socket = flags.replica else {
            for case (let flag, let value?) in others {
                throw .badFlag(flag, "expected --replica with it, got \(value) alone.")
            }
            return
        }
        guard state != nil else {
            throw .badFlag(
                "--replica",
                "--in-memory keeps nothing, and goes without it; got \(socket)."
            )
        }
        guard !socket.isEmpty, socket.utf8.count <= Self.longestSocketPath else {
            throw .badFlag(
                "--replica",
                "expected the path of a socket, 1 to \(Self.longestSocketPath) bytes, got "
                    + "\(socket.utf8.count)."
            )
        }
        guard let advertise = flags.advertise else {
            throw .badFlag("--advertise", "--replica needs an address, and none was given.")
        }
        guard Self.isAddress(advertise) else {
            throw .badFlag(
                "--advertise",
                "expected a host and a port from 1 to 65535, as feed1.example.org:7433, got "
                    + "\(advertise)."
            )
        }
        if let durability = command.state.durability {
            throw .badFlag(
                "--durability",
                "a majority of the cluster has what is answered, and --replica goes without it; got "
                    + "\(durability)."
            )
        }
        guard !command.sampleData else {
            throw .badFlag(
                "--sample-data",
                "a service with --replica has what the cluster's log has, and no posts of its own."
            )
        }
        if let text = flags.maxStaleness {
            limits.maximumStaleness = try FlagValue.staleness(text, "--max-staleness")
        }
        let loopLimit = StateOptions.maximumReplicatedLogCount
        if threadCount > loopLimit {
            guard command.threads == nil else {
                throw .badFlag(
                    "--threads",
                    "expected 1 to \(loopLimit) with --replica, got \(threadCount)."
                )
            }
            threadCount = loopLimit
            state?.logCount = loopLimit
        }
        state?.replica = ReplicaOptions(socketPath: socket, address: advertise)
    }

    /// What an address of a Unix socket holds beside its end.
    private static let longestSocketPath = 107
    /// The most bytes of a name in DNS.
    private static let longestHost = 253

    /// Whether a text is `host:port` or `[host]:port`; the host is not looked up.
    private static func isAddress(_ text: String) -> Bool {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return false }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return (1...longestHost).contains(host.utf8.count)
            && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            && (isBracketed || !host.contains(":"))
    }
}
