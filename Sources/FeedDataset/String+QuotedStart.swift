internal import FeedText

extension String {
    /// The first 60 scalars in quotes, safe to print.
    var quotedStart: String { "\"\(printableStart)\"" }

    /// The first 60 scalars, safe to print, with an ellipsis where the text is longer.
    var printableStart: String { VisibleText.line(self, atMost: 60) }
}

extension [String] {
    /// The first 20 texts as ``String/quotedStart``, and how many more there are.
    var quotedList: String {
        let shown = prefix(20).map(\.quotedStart).joined(separator: ", ")
        return count > 20 ? "\(shown) and \(count - 20) more" : shown
    }
}
