extension String {
    /// The first 60 scalars in quotes, safe to print: what a terminal may obey is shown as ASCII.
    ///
    /// A field of a file may be megabytes long.
    var quotedStart: String { "\"\(printableStart)\"" }

    /// The first 60 scalars, safe to print, with an ellipsis where the text is longer.
    var printableStart: String {
        var shown = String.UnicodeScalarView()
        var rest = unicodeScalars[...]
        for scalar in rest.prefix(Self.shownScalarCount) {
            rest.removeFirst()
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                shown.append(contentsOf: scalar.escaped(asASCII: true).unicodeScalars)
            default:
                shown.append(scalar)
            }
        }
        return String(shown) + (rest.isEmpty ? "" : "…")
    }

    private static var shownScalarCount: Int { 60 }
}

extension [String] {
    /// The first 20 texts as ``String/quotedStart``, and how many more there are.
    var quotedList: String {
        let shown = prefix(20).map(\.quotedStart).joined(separator: ", ")
        return count > 20 ? "\(shown) and \(count - 20) more" : shown
    }
}
