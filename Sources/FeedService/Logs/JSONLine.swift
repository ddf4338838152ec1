internal import FeedConcurrency
internal import Foundation

/// A line of the log as a JSON object.
package struct JSONLine: Codable, Equatable, Sendable {
    /// The time of day in UTC with milliseconds, as `2026-01-01T00:00:00.000Z`.
    package var time: String
    /// The level, as `warning`.
    package var level: String
    /// The text.
    package var message: String
    /// What the text says, for programs.
    package var metadata: [String: String]

    /// A line at this time.
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
