internal import FeedConcurrency
package import Logging

/// The level from which on lines are written, by all loggers of the process.
///
/// A signal switches between the level of a start and debug.
package final class LogThreshold: Sendable {
    /// The level that the start has asked for.
    private let first: Logger.Level
    private let current: Lock<Logger.Level>

    /// Begins with a level.
    package init(_ level: Logger.Level) {
        first = level
        current = Lock(level)
    }

    /// The level from which on lines are written.
    package var level: Logger.Level { current.withLock { $0 } }

    /// The level that ``toggle()`` sets next: debug, or else that of the start.
    ///
    /// Where the start has asked for debug or trace, the other level is info.
    package var next: Logger.Level {
        guard level <= .debug else { return .debug }
        return first <= .debug ? .info : first
    }

    /// Switches to the next level, and logs that with a level that is written.
    package func toggle(_ logger: Logger) {
        let next = next
        let line: Logger.Message =
            "SIGUSR1: the log has lines of the level \(next) and above from now on"
        // One of the two levels lets each line pass.
        if next < level {
            current.withLock { $0 = next }
            logger.notice(line)
        } else {
            logger.notice(line)
            current.withLock { $0 = next }
        }
    }
}
