internal import FeedConcurrency
package import FeedTransport
package import Logging

/// Log lines that clients can cause, at most one a second of a kind: a client must not be able to
/// fill a disk.
package final class ServiceLog: Sendable {
    private struct Line {
        var lastSecond: Int64 = .min
        var suppressedCount = 0

        /// The lines that were left out before the one of this second; nil where it has had one.
        mutating func begin(_ second: Int64) -> Int? {
            guard second != lastSecond else {
                suppressedCount += 1
                return nil
            }
            defer { suppressedCount = 0 }
            lastSecond = second
            return suppressedCount
        }
    }

    /// The lines of which one a second is written.
    private enum Kind: Hashable {
        case badFrame, failedHandshake, refusedProxy, introduction, service, unknownKey
        case overBudget, limitedHost, refusedEdit
        case refusal(reason: String)
        case slowCall(Method)
    }

    private let logger: Logger
    private let unixMilliseconds: @Sendable () -> Int64
    private let lines = Lock<[Kind: Line]>([:])

    /// Writes to this logger; lines are counted by the seconds of this time of day.
    package init(
        _ logger: Logger,
        unixMilliseconds: @escaping @Sendable () -> Int64 = SystemClock.unixMilliseconds
    ) {
        self.logger = logger
        self.unixMilliseconds = unixMilliseconds
    }

    /// A peer sent what is no frame: often another protocol on this port.
    func badFrame(_ message: String, from host: SocketAddress.Host) {
        write("Bad frame from \(host.text): \(message)", .badFrame)
    }

    /// A TLS handshake has failed; the reason has no word of the peer.
    func failedHandshake(_ reason: String, from host: SocketAddress.Host) {
        write("No TLS connection from \(host.text): \(reason)", .failedHandshake)
    }

    /// A proxy's connection did not begin as it has to.
    func refusedProxy(_ reason: String, from host: SocketAddress.Host) {
        write("Refused a connection of the proxy \(host.text): \(reason)", .refusedProxy)
    }

    /// A client said what it is called; the name may be anything, and any length.
    package func introduced(_ name: String, from host: SocketAddress.Host) {
        write(
            "Client \(Self.quoted(name)) says Hello from \(host.text)",
            .introduction,
            level: .info
        )
    }

    /// A caller has shown the service key of this name.
    func keyShown(_ name: String, _ role: KeyRole, from host: SocketAddress.Host) {
        write("\(Self.kind(role)) \(name) says Hello from \(host.text)", .service, level: .info)
    }

    /// A caller has connected with a certificate that has the identity of a key.
    func certificateShown(_ key: ServiceKey, from host: SocketAddress.Host) {
        write(
            "\(Self.kind(key.role)) \(key.name) connects with a certificate from \(host.text)",
            .service,
            level: .info
        )
    }

    private static func kind(_ role: KeyRole) -> String {
        role.rawValue.prefix(1).uppercased() + role.rawValue.dropFirst()
    }

    /// A caller has shown a service key that the service does not know.
    func unknownServiceKey(from host: SocketAddress.Host) {
        write("Unknown service key from \(host.text)", .unknownKey)
    }

    /// A client's text as it may stand in a log line: on one line, in quotes, and not too long.
    ///
    /// Control and format characters, quotes and backslashes are escaped: a name cannot end its
    /// line, change a terminal's state or hide what follows it. O(limit).
    package static func quoted(_ text: String, limit: Int = 64) -> String {
        var quoted = "\""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else { return quoted + "\"…" }
            count += 1
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator,
                .privateUse, .unassigned:
                quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                if scalar == "\"" || scalar == "\\" { quoted += "\\" }
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A connection was closed, as too much is held.
    func closedOverBudget(heldByteCount: Int, from host: SocketAddress.Host) {
        write(
            "closed a connection from \(host.text) that held "
                + "\(heldByteCount) bytes: too much is held for connections",
            .overBudget
        )
    }

    /// A host has as many connections as it may, and one more came.
    func tooManyConnections(of host: SocketAddress.Host) {
        write("Refused a connection of \(host.text), which has its limit", .limitedHost)
    }

    /// A user, or a device for nil, may not change a post.
    func refusedEdit(of postID: UInt64, by userID: UInt64?, from host: SocketAddress.Host) {
        write(
            "refused \(userID.map { "the user \($0)" } ?? "a device") from \(host.text) a change "
                + "of the post \(postID), which is another author's",
            .refusedEdit
        )
    }

    /// A call was refused; a line for each reason in a second.
    ///
    /// The text of the answer is left out, as it may have words of the client.
    package func refused(_ method: Method, _ reason: String, from host: SocketAddress.Host) {
        let level = RefusalLevel.of(reason)
        guard level >= logger.logLevel else { return }
        guard let suffix = begin(.refusal(reason: reason)) else { return }
        logger.log(
            level: level,
            "refused \(method.name) from \(host.text): \(reason)\(suffix)",
            metadata: ["method": "\(method.name)", "host": "\(host.text)", "reason": "\(reason)"]
        )
    }

    /// Calls took longer than an operator wants; a line for each method in a second.
    package func slow(
        _ run: AnsweredCalls.Run,
        from peer: SocketAddress,
        nanoseconds: UInt64,
        heldNanoseconds: UInt64
    ) {
        guard let suffix = begin(.slowCall(run.method)) else { return }
        let milliseconds = nanoseconds / 1_000_000
        let heldMilliseconds = heldNanoseconds / 1_000_000
        let others = run.count > 1 ? " and \(run.count - 1) after it" : ""
        logger.warning(
            """
            slow: \(run.method.name) \(run.firstID)\(others) from \(peer) took \(milliseconds) ms, \
            held for \(heldMilliseconds) ms of them\(suffix)
            """,
            metadata: [
                "method": "\(run.method.name)", "host": "\(peer.hostText)", "port": "\(peer.port)",
                "request_id": "\(run.firstID)", "count": "\(run.count)",
                "milliseconds": "\(milliseconds)", "held_milliseconds": "\(heldMilliseconds)",
            ]
        )
    }

    /// Connections were refused in the last second, because there were too many.
    func refusedConnections(_ count: UInt64) {
        logger.warning(
            "refused \(count) \(count == 1 ? "connection" : "connections"): TOO_MANY_CONNECTIONS",
            metadata: ["count": "\(count)", "reason": "TOO_MANY_CONNECTIONS"]
        )
    }

    /// The time of day has left where the monotonic clock says it should be, or is back.
    func clock(_ news: ClockWatch.News) {
        let line = OperatorLines.clock(news)
        if case .jumped = news {
            logger.error("\(line)")
        } else {
            logger.notice("\(line)")
        }
    }

    func setLevel(_ level: Logger.Level, of threshold: LogThreshold) {
        threshold.set(level, logger, "An operator")
    }

    /// The drain's deadline cannot be kept; slow clients may delay the end of the service.
    func cannotBoundDrain(_ error: TransportError) {
        logger.error("The drain has no deadline: \(error)")
    }

    private func write(
        _ message: @autoclosure () -> String,
        _ kind: Kind,
        level: Logger.Level = .warning
    ) {
        guard let suffix = begin(kind) else { return }
        logger.log(level: level, "\(message())\(suffix)")
    }

    /// The end of a line, which says how many of its kind were left out before; nil where this second has had
    /// one.
    private func begin(_ kind: Kind) -> String? {
        let second = unixMilliseconds() / 1000
        return lines.withLock { $0[kind, default: Line()].begin(second) }.map { count in
            count > 0 ? " (and \(count) like it before)" : ""
        }
    }
}

extension SocketAddress.Host {
    fileprivate var text: String { SocketAddress(host: self, port: 0).hostText }
}
