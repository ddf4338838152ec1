/// Text of others made safe to print: what a terminal may obey is shown as `\u{1B}`, `\n` or the like.
package enum PlainText {
    /// The text on one line, at most `longest` characters of it.
    package static func line(_ text: String, atMost longest: Int = .max) -> String {
        text.unicodeScalars.prefix(longest).reduce(into: "") { line, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                line += scalar.escaped(asASCII: true)
            default: line.unicodeScalars.append(scalar)
            }
        }
    }

    /// The lines of a text, each safe to print.
    package static func lines(_ text: String) -> String {
        text.split(separator: "\n" as Character, omittingEmptySubsequences: false)
            .map { line(String($0)) }.joined(separator: "\n")
    }
}
