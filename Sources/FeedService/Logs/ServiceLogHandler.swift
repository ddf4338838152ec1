internal import FeedConcurrency
package import Logging

/// Writes the lines of the log that reach the threshold, each in one piece.
///
/// A line's text says all. Its metadata has the same for programs, so only JSON shows it.
package struct ServiceLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let threshold: LogThreshold
    private let format: LogFormat
    private let stream: any TextOutputStream & Sendable
    private let text: StreamLogHandler

    /// A handler of the logger with this label, whose lines go to a stream.
    package init(
        _ label: String,
        _ threshold: LogThreshold,
        _ format: LogFormat,
        to stream: any TextOutputStream & Sendable
    ) {
        self.threshold = threshold
        self.format = format
        self.stream = stream
        text = StreamLogHandler(label: label, stream: stream)
    }

    /// The threshold of the process; a logger has none of its own.
    package var logLevel: Logger.Level {
        get { threshold.level }
        set { _ = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        switch format {
        case .text:
            var event = event
            event.metadata = nil
            text.log(event: event)
        case .json:
            let line = JSONLine(
                level: event.level.rawValue,
                message: "\(event.message)",
                metadata: metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            )
            var stream = stream
            stream.write("\(line.text)\n")
        }
    }
}

extension OutputThread {
    /// The thread that writes the log to standard error, so that nobody who logs waits for its reader.
    package static func log(_ threshold: LogThreshold, _ format: LogFormat) -> OutputThread {
        // On the thread itself: the line does not need room in the buffer.
        let direct = Logger(label: "feed-service") {
            ServiceLogHandler($0, threshold, format, to: StandardError())
        }
        return OutputThread("feed-log") { lines, leftOutCount in
            let began = MonotonicInstant.now
            StandardError().write(lines.joined())
            let time = MonotonicInstant.now.duration(since: began)
            if time >= noticeTime {
                direct.warning("the log was not read for \(time.components.seconds) s")
            }
            if leftOutCount > 0 { direct.warning("\(leftOutLine(leftOutCount))") }
        }
    }

    /// What the reader takes longer for is a line of the log.
    private static let noticeTime = Duration.seconds(2)

    /// The line in place of those that were left out.
    package static func leftOutLine(_ count: Int) -> String {
        let lines = count == 1 ? "a line of the log was" : "\(count) lines of the log were"
        return "\(lines) left out here: standard error was not read"
    }

    /// Writes a text to standard error for a process that is about to end.
    package static func sayLast(_ text: String) {
        let output = OutputThread("feed-log") { texts, _ in StandardError().write(texts.joined()) }
        output.write(text)
        output.flush()
    }
}
