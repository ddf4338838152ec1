import FeedTestSupport
import Logging

/// Keeps the lines of a logger, each with its level.
final class LoggedLines: Sendable {
    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }

    private let lines = Locked<[String]>([])

    /// The logger whose lines are kept.
    var logger: Logger { Logger(label: "test", factory: { [lines] _ in Handler(lines: lines) }) }

    /// The lines so far.
    var all: [String] { lines.withLock { $0 } }
}
