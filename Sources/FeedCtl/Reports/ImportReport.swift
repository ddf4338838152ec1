package import FeedImport

/// The outcome of the posts of a file, as `import` reports it.
package struct ImportReport: Report, Equatable {
    let feed: String
    let importedCount: Int
    let leftOut: [LeftOutPost]

    /// The report of an import.
    package init(feed: String, importedCount: Int, leftOut: [LeftOutPost]) {
        self.feed = feed
        self.importedCount = importedCount
        self.leftOut = leftOut
    }

    /// A line, and a table of the first posts that were left out.
    package func text(_ style: TextStyle) -> String {
        let summary =
            "Imported \(importedCount) posts into \(VisibleText.line(feed)); "
            + "\(leftOut.count) left out.\n"
        guard !leftOut.isEmpty else { return summary }
        var table = TextTable([
            .number("LINE"), .number("ACTUAL"), .number("LIMIT"), .text("FIELD"), .text("REASON"),
        ])
        for post in leftOut.prefix(Self.shownCount) {
            table.append([
                "\(post.line)", post.shownActual, post.shownLimit, post.field, post.reason,
            ])
        }
        let rest = leftOut.count - Self.shownCount
        let more = rest > 0 ? "… and \(rest) more; --json names them all.\n" : ""
        return summary + "\n" + table.rendered(style) + more
    }

    /// The most rows that are shown; a file of another kind may have a million.
    private static let shownCount = 200
}

extension LeftOutPost {
    /// The value or number for people; empty where there is no limit to compare a number with.
    fileprivate var shownActual: String {
        if !value.isEmpty { return value }
        return limit > 0 ? "\(actual)" : ""
    }

    /// The limit for people; empty where none was passed.
    fileprivate var shownLimit: String { limit > 0 ? "\(limit)" : "" }
}
