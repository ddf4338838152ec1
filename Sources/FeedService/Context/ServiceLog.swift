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

    private let logger: Logger
    private let unixMilliseconds: @Sendable () -> Int64
    private let badFrames = Lock(Line())
    private let introductions = Lock(Line())
    private let services = Lock(Line())
    private let unknownKeys = Lock(Line())
    private let overBudget = Lock(Line())
    private let refusedEdits = Lock(Line())
    private let limitedHosts = Lock(Line())
    private let failedHandshakes = Lock(Line())
    private let refusedProxies = Lock(Line())
    private let refusals = Lock<[String: Line]>([:])
    private let slowCalls = Lock(Method.allCases.map { _ in Line() })

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
        write(
            "Bad frame from \(SocketAddress(host: host, port: 0).hostText): \(message)",
            badFrames
        )
    }

    /// A TLS handshake has failed; the reason has no word of the peer.
    func failedHandshake(_ reason: String, from host: SocketAddress.Host) {
        write(
            "No TLS connection from \(SocketAddress(host: host, port: 0).hostText): \(reason)",
            failedHandshakes
        )
    }

    /// A proxy's connection did not begin as it has to.
    func refusedProxy(_ reason: String, from host: SocketAddress.Host) {
        write(
            "Refused a connection of the proxy \(SocketAddress(host: host, port: 0).hostText): \(reason)",
            refusedProxies
        )
    }

    /// A client said what it is called; the name may be anything, and any length.
    package func introduced(_ name: String, from host: SocketAddress.Host) {
        write(
            "Client \(Self.quoted(name)) says Hello from "
                + SocketAddress(host: host, port: 0).hostText,
            introductions,
            level: .info
        )
    }

    /// A caller has shown the service key of this name.
    func keyShown(_ name: String, _ role: KeyRole, from host: SocketAddress.Host) {
        write(
            "\(Self.kind(role)) \(name) says Hello from "
                + SocketAddress(host: host, port: 0).hostText,
            services,
            level: .info
        )
    }

    /// A caller has connected with a certificate that has the identity of a key.
    func certificateShown(_ key: ServiceKey, from host: SocketAddress.Host) {
        write(
            "\(Self.kind(key.role)) \(key.name) connects with a certificate from "
                + SocketAddress(host: host, port: 0).hostText,
            services,
            level: .info
        )
    }

    private static func kind(_ role: KeyRole) -> String {
        role.rawValue.prefix(1).uppercased() + role.rawValue.dropFirst()
    }

    /// A caller has shown a service key that the service does not know.
    func unknownServiceKey(from host: SocketAddress.Host) {
        write(
            "Unknown service key from \(SocketAddress(host: host, port: 0).hostText)",
            unknownKeys
        )
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
            "closed a connection from \(SocketAddress(host: host, port: 0).hostText) that held "
                + "\(heldByteCount) bytes: too much is held for connections",
            overBudget
        )
    }

    /// A host has as many connections as it may, and one more came.
    func tooManyConnections(of host: SocketAddress.Host) {
        write(
            "Refused a connection of \(SocketAddress(host: host, port: 0).hostText), which has its limit",
            limitedHosts
        )
    }

    /// A user has tried to change the post of another author.
    func refusedEdit(of postID: UInt64, by userID: UInt64, from host: SocketAddress.Host) {
        write(
            "refused the user \(userID) from \(SocketAddress(host: host, port: 0).hostText) a change "
                + "of the post \(postID), which is another author's",
            refusedEdits
        )
    }

    /// A call was refused; a line for each reason in a second.
    ///
    /// The text of the answer is left out, as it may have words of the client.
    package func refused(_ method: Method, _ reason: String, from host: SocketAddress.Host) {
        let level = RefusalLevel.of(reason)
        guard level >= logger.logLevel else { return }
        let second = unixMilliseconds() / 1000
        let suppressedCount = refusals.withLock { $0[reason, default: Line()].begin(second) }
        guard let suppressedCount else { return }
        let hostText = SocketAddress(host: host, port: 0).hostText
        logger.log(
            level: level,
            "refused \(method.name) from \(hostText): \(reason)\(Self.suffix(suppressedCount))",
            metadata: ["method": "\(method.name)", "host": "\(hostText)", "reason": "\(reason)"]
        )
    }

    /// Calls took longer than an operator wants; a line for each method in a second.
    package func slow(
        _ run: AnsweredCalls.Run,
        from peer: SocketAddress,
        nanoseconds: UInt64,
        heldNanoseconds: UInt64
    ) {
        let second = unixMilliseconds() / 1000
        let suppressedCount = slowCalls.withLock { $0[run.method.rawValue].begin(second) }
        guard let suppressedCount else { return }
        let milliseconds = nanoseconds / 1_000_000
        let heldMilliseconds = heldNanoseconds / 1_000_000
        let others = run.count > 1 ? " and \(run.count - 1) after it" : ""
        logger.warning(
            """
            slow: \(run.method.name) \(run.firstID)\(others) from \(peer) took \(milliseconds) ms, \
            held for \(heldMilliseconds) ms of them\(Self.suffix(suppressedCount))
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

    /// An operator's call sets the level.
    func setLevel(_ level: Logger.Level, of threshold: LogThreshold) {
        threshold.set(level, logger, "An operator")
    }

    /// The drain's deadline cannot be kept; slow clients may delay the end of the service.
    func cannotBoundDrain(_ error: TransportError) {
        logger.error("The drain has no deadline: \(error)")
    }

    private func write(
        _ message: @autoclosure () -> String,
        _ line: borrowing Lock<Line>,
        level: Logger.Level = .warning
    ) {
        let second = unixMilliseconds() / 1000
        guard let suppressedCount = line.withLock({ $0.begin(second) }) else { return }
        logger.log(level: level, "\(message())\(Self.suffix(suppressedCount))")
    }

    private static func suffix(_ suppressedCount: Int) -> String {
        suppressedCount > 0 ? " (and \(suppressedCount) like it before)" : ""
    }
}
