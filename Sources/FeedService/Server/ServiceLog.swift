internal import FeedTransport
internal import Logging
internal import Synchronization

/// Log lines that clients can cause, at most one a second of a kind: a client must not be able to
/// fill a disk.
final class ServiceLog: Sendable {
    private struct Line {
        var lastSecond: Int64 = .min
        var suppressedCount = 0
    }

    private let logger: Logger
    private let badFrames = Mutex(Line())

    /// Writes to this logger.
    init(_ logger: Logger) { self.logger = logger }

    /// A peer sent what is no frame: often another protocol on this port.
    func badFrame(_ message: String, from host: SocketAddress.Host) {
        write(
            "Bad frame from \(SocketAddress(host: host, port: 0).hostText): \(message)",
            badFrames
        )
    }

    /// The time of day has left where the monotonic clock says it should be, or is back.
    func clockJumped(by milliseconds: Int64) {
        if milliseconds == 0 {
            logger.notice("the clock is back: changes are taken again")
        } else {
            logger.error(
                "the clock jumped by \(milliseconds / 1000) s: changes are refused until it is back, or the service is started anew"
            )
        }
    }

    /// The drain's deadline cannot be kept; slow clients may hold the service up.
    func cannotBoundDrain(_ error: TransportError) {
        logger.error("The drain has no deadline: \(error)")
    }

    private func write(_ message: @autoclosure () -> String, _ line: borrowing Mutex<Line>) {
        let second = WallClock.unixMilliseconds() / 1000
        let suppressedCount: Int? = line.withLock { line in
            guard second != line.lastSecond else {
                line.suppressedCount += 1
                return nil
            }
            defer { line.suppressedCount = 0 }
            line.lastSecond = second
            return line.suppressedCount
        }
        guard let suppressedCount else { return }
        let suffix = suppressedCount > 0 ? " (and \(suppressedCount) like it before)" : ""
        logger.warning("\(message())\(suffix)")
    }
}
