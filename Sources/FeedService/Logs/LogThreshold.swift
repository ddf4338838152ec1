internal import FeedConcurrency
package import Logging

/// The level from which on lines are written, by all loggers of the process.
///
/// A signal switches between the level of a start and debug, and an operator may set any.
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
    package func toggle(_ logger: Logger) { set(next, logger, "SIGUSR1") }

    /// Sets a level, and logs who has asked for it with a level that is written, if one is.
    package func set(_ new: Logger.Level, _ logger: Logger, _ cause: String) {
        let line = "\(cause): the log has lines of the level \(new) and above from now on"
        // The lower one of the two levels is the one that may let the line pass.
        if new < level {
            current.withLock { $0 = new }
            logger.notice("\(line)")
        } else {
            logger.notice("\(line)")
            current.withLock { $0 = new }
        }
    }
}
