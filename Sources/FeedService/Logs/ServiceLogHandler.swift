package import Logging

/// Writes the lines of the log that reach the threshold to standard error.
///
/// A line's text says all. Its metadata has the same for programs, so only JSON shows it.
package struct ServiceLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let threshold: LogThreshold
    private let format: LogFormat
    private let text: StreamLogHandler

    /// A handler of the logger with this label.
    package init(_ label: String, _ threshold: LogThreshold, _ format: LogFormat) {
        self.threshold = threshold
        self.format = format
        text = .standardError(label: label)
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
            JSONLine(
                level: event.level.rawValue,
                message: "\(event.message)",
                metadata: metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            )
            .write()
        }
    }
}
