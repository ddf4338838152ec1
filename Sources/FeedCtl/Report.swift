internal import FeedConcurrency
internal import FeedText
internal import Foundation

/// The output of a command: a text for people, and a document for programs.
package protocol Report: Sendable {
    /// The text, each line with its line break.
    func text(_ style: TextStyle) -> String

    /// The document, which docs/FEEDCTL.md promises to programs.
    var document: Document { get }

    /// Whether what was asked is done; if not, the program ends with a status that says so.
    var isDone: Bool { get }
}

/// A JSON object: members by the names that programs know.
///
/// A member without a value is left out.
package struct Document: Encodable, ExpressibleByDictionaryLiteral, Sendable {
    private struct Member: Encodable, Sendable {
        let value: any Encodable & Sendable

        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }

    private var members: [String: Member] = [:]

    package init(dictionaryLiteral members: (String, (any Encodable & Sendable)?)...) {
        for case (let name, let value?) in members { self.members[name] = Member(value: value) }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(members)
    }
}

extension Report {
    package var isDone: Bool { true }

    /// Prints the report for people or for programs, and throws ``NotDone`` after one of something that is
    /// not done.
    func print(asJSON isJSON: Bool) throws {
        try Console.write(isJSON ? try json() : text(.current))
        guard isDone else { throw NotDone() }
    }

    /// The JSON for programs: names sorted, whole texts, a line break at the end.
    package func json() throws -> String { try json(.prettyPrinted) }

    /// The same JSON on one line, for programs that read an object a line.
    package func jsonLine() throws -> String { try json([]) }

    private func json(_ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        let text = String(decoding: try encoder.encode(document), as: UTF8.self)
        return Self.escaped(text) + "\n"
    }

    /// The same JSON with hidden characters in its strings written as `\u202e`.
    ///
    /// Programs read the same values, and the characters do not affect a terminal.
    private static func escaped(_ json: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if scalar != "\n", VisibleText.isHidden(scalar) {
                for unit in scalar.utf16 {
                    let digits = String(unit, radix: 16)
                    let zeros = String(repeating: "0", count: 4 - digits.count)
                    result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
                }
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

/// A report whose text is one sentence; what a call makes of its answer is beside its command.
package struct Sentence: Report {
    private let sentence: String
    package let document: Document

    init(_ sentence: String, _ document: Document) {
        self.sentence = sentence
        self.document = document
    }

    package func text(_ style: TextStyle) -> String { sentence + "\n" }
}

/// What a text depends on beside its content.
package struct TextStyle: Sendable {
    /// The time now, since the Unix epoch.
    package let nowMilliseconds: Int64
    /// The width of a line; nil, if the output is no terminal, means no limit.
    package let columnCount: Int?
    /// Whether the heads of tables are bold: on a terminal only, and not if `NO_COLOR` is set.
    package let isBold: Bool

    package init(nowMilliseconds: Int64, columnCount: Int?, isBold: Bool = false) {
        self.nowMilliseconds = nowMilliseconds
        self.columnCount = columnCount
        self.isBold = isBold
    }

    /// The style of this moment and the terminal on standard output.
    static var current: TextStyle {
        let environment = ProcessInfo.processInfo.environment
        // The convention of no-color.org: any text but the empty one.
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        return TextStyle(
            nowMilliseconds: SystemClock.unixMilliseconds(),
            columnCount: Terminal.columnCount,
            isBold: Terminal.isOutput && !isPlain
        )
    }

    /// A time in relative form, and in full.
    func time(_ milliseconds: Int64) -> String {
        let relative = RelativeTime.text(milliseconds, now: nowMilliseconds)
        // Years have four digits; other times are no dates that people know.
        guard (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds) else {
            return relative
        }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return "\(relative) (\(date.ISO8601Format()))"
    }
}

/// Times as people say them: "3 hours ago".
package enum RelativeTime {
    /// A time since the Unix epoch as seen at `now`, in the largest unit that it fills once.
    ///
    /// Months are 30 days and years 365; under five seconds is "just now".
    package static func text(_ milliseconds: Int64, now: Int64) -> String {
        let (difference, hasOverflowed) = now.subtractingReportingOverflow(milliseconds)
        let seconds = hasOverflowed ? Int64.max / 1_000 : difference / 1_000
        guard seconds.magnitude >= 5,
            let unit = units.first(where: { seconds.magnitude >= $0.seconds })
        else { return "just now" }
        let count = seconds.magnitude / unit.seconds
        let amount = "\(count) \(unit.name)\(count == 1 ? "" : "s")"
        return seconds < 0 ? "in \(amount)" : "\(amount) ago"
    }

    private static let units: [(name: String, seconds: UInt64)] = [
        ("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600),
        ("minute", 60), ("second", 1),
    ]
}
