internal import FeedText
internal import Foundation

/// The output of a command.
///
/// Its encoding is the documented shape for programs; its text is for people.
package protocol Report: Encodable, Sendable {
    /// The text for people, each line with its line break.
    func text(_ style: TextStyle) -> String

    /// Whether what was asked is done; if not, the program ends with a status that says so.
    var isDone: Bool { get }
}

extension Report {
    package var isDone: Bool { true }

    /// The JSON for programs: names in snake_case and sorted, whole texts, a line break at the end.
    package func json() throws -> String { try json(.prettyPrinted) }

    /// The same JSON on one line, for programs that read an object a line.
    package func jsonLine() throws -> String { try json([]) }

    private func json(_ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
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
