internal import Foundation

/// The output of a command.
///
/// Its encoding is the documented shape for programs; its text is for people.
package protocol Report: Encodable, Sendable {
    /// The text for people, each line with its line break.
    func text(_ style: TextStyle) -> String
}

/// What a text depends on beside its content.
package struct TextStyle: Sendable {
    /// The time now, since the Unix epoch.
    package let nowMilliseconds: Int64
    /// The width of a line; nil, where the output is no terminal, means no limit.
    package let columnCount: Int?

    /// A style for a moment and a terminal.
    package init(nowMilliseconds: Int64, columnCount: Int?) {
        self.nowMilliseconds = nowMilliseconds
        self.columnCount = columnCount
    }
}

extension Report {
    /// The JSON for programs: names in snake_case and sorted, whole texts, a line break at the end.
    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(self), as: UTF8.self)
        return Self.escaped(text) + "\n"
    }

    /// The same JSON with hidden characters in its strings written as `\u202e`.
    ///
    /// Programs read the same values, and the characters do not affect a terminal.
    private static func escaped(_ json: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            if scalar != "\n", VisibleText.isHidden(scalar) {
                let digits = String(scalar.value, radix: 16)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                result.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
