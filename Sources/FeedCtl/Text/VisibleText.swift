/// Text of others made safe to print: nothing in it moves the cursor, colours or reorders the line.
package enum VisibleText {
    /// The text on one line: control characters, bidirectional controls and line separators shown
    /// as `\n`, `\t`, `\r` or `\u{1B}`; all else as it is.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
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
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0, DEL and C1.
        case 0x00...0x1F, 0x7F...0x9F: true
        // Marks, embeddings, overrides and isolates that change the direction of the text after
        // them.
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        // Line and paragraph separator.
        case 0x2028...0x2029: true
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
