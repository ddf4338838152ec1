internal import Foundation

/// What a command has to say: its encoding is the documented shape for programs, its text is for
/// people.
package protocol Report: Encodable, Sendable {
    /// The text for people, each line with its line break.
    func text(_ style: TextStyle) -> String
}

/// What a text depends on beside what it says.
package struct TextStyle: Sendable {
    /// The time now, since the Unix epoch.
    package let nowMilliseconds: Int64
    /// How wide a line may be; nil, where nobody looks at a terminal, is no limit.
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

    /// The same JSON with what is hidden in its strings written as `\u202e`: it says the same to
    /// programs, and a terminal that it is printed on stays as it is.
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
