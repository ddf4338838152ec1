internal import FeedConcurrency
internal import Foundation
internal import Glibc
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

/// Standard error; a write waits for its reader, so only the thread of an ``OutputThread`` makes one.
package struct StandardError: TextOutputStream, Sendable {
    package init() {}

    /// Writes a text; what cannot be written is dropped.
    package func write(_ text: String) {
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.write(
                    STDERR_FILENO,
                    bytes.baseAddress?.advanced(by: start),
                    bytes.count - start
                )
            }
            if count >= 0 {
                start += count
            } else if errno == EAGAIN {
                // Another process has made the pipe one that does not wait.
                var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// The level from which on lines are written, by all loggers of the process.
///
/// A signal switches between the level of a start and debug, and an operator may set any.
package final class LogThreshold: Sendable {
    /// The level that the start has asked for.
    private let first: Logger.Level
    private let current: Lock<Logger.Level>

    package init(_ level: Logger.Level) {
        first = level
        current = Lock(level)
    }

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

package enum LogFormat: String, CaseIterable, Sendable {
    /// `TIME LEVEL feed-service: [FeedService] TEXT`.
    case text
    case json
}

/// A line of the log as a JSON object.
package struct JSONLine: Codable, Equatable, Sendable {
    /// The time of day in UTC with milliseconds, as `2026-01-01T00:00:00.000Z`.
    package var time: String
    /// The level, as `warning`.
    package var level: String
    package var message: String
    /// What the text says, for programs.
    package var metadata: [String: String]

    package init(
        level: String,
        message: String,
        metadata: [String: String],
        unixMilliseconds: Int64 = SystemClock.unixMilliseconds()
    ) {
        // The style cuts the rest of a millisecond off, and seconds as a Double may lie just below.
        time = Date(timeIntervalSince1970: (Double(unixMilliseconds) + 0.5) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        self.level = level
        self.message = message
        self.metadata = metadata
    }

    /// The object on one line, with its members in the order of their names.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// How much a refusal of a call matters to an operator.
package enum RefusalLevel {
    /// Refusals for which a right was missing, or a limit was reached whose name does not say so.
    ///
    /// READ_ONLY and CLOCK_JUMPED are not among them: lines of their own say when each begins and ends.
    private static let warnings: Set<String> = [
        "DEADLINE_EXCEEDED", "INTERNAL", "NO_ROOM_FOR_POSTS", "NOT_DURABLE", "OVERLOADED",
        "RATE_LIMITED", "SERVICE_ONLY",
    ]

    /// The level of the line for a refusal with this reason.
    package static func of(_ reason: String) -> Logger.Level {
        warnings.contains(reason) || reason.hasPrefix("TOO_MANY_") ? .warning : .debug
    }
}
