/// Text of others made safe to print: nothing in it moves the cursor, colours, reorders or hides.
package enum VisibleText {
    /// The text on one line: control and format characters and line separators shown as `\n`, `\t`, `\r`
    /// or `\u{1B}`; all else as it is.
    ///
    /// A text of more than `limit` scalars is cut there, with an ellipsis: a field of a file may be
    /// megabytes long.
    package static func line(_ text: String, atMost limit: Int = .max) -> String {
        var shown = String.UnicodeScalarView()
        for (number, scalar) in text.unicodeScalars.enumerated() {
            guard number < limit else { return String(shown) + "…" }
            if isHidden(scalar) {
                shown.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// The lines of a text, each safe to print; CR LF is one line break, as LF is.
    package static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
            .map { line(String($0)) }
    }

    /// Whether printing the scalar does something other than showing it.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // The joiners are part of words in Persian and Hindi, and of emoji, and do nothing by themselves.
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }
}
