package import FeedDataset
package import FeedImport
internal import FeedText

/// The outcome of the posts of a file, as `import` reports it.
package struct ImportReport: Report, Equatable {
    let feed: String
    let importedCount: Int
    let leftOut: [LeftOutPost]
    let columns: ColumnUse?

    /// The report of an import.
    package init(
        feed: String,
        importedCount: Int,
        leftOut: [LeftOutPost],
        columns: ColumnUse? = nil
    ) {
        self.feed = feed
        self.importedCount = importedCount
        self.leftOut = leftOut
        self.columns = columns
    }

    /// Not where every post was left out.
    package var isDone: Bool { importedCount > 0 || leftOut.isEmpty }

    /// A line, what was not read, and a table of the first posts that were left out.
    package func text(_ style: TextStyle) -> String {
        "Imported \(importedCount) posts into \(VisibleText.line(feed)); \(leftOut.count) left out.\n"
            + (columns?.lines ?? "") + leftOut.table(style)
    }
}

/// What an import would find in a file, as `import --check` reports it.
struct CheckReport: Report {
    var postCount = 0
    var leftOut: [LeftOutPost] = []
    let columns: ColumnUse

    /// A line, what is not read, and a table of the first posts that are no posts.
    func text(_ style: TextStyle) -> String {
        "\(postCount) posts can be sent; \(leftOut.count) would be left out. The feed's limits are the "
            + "service's to check.\n" + columns.lines + leftOut.table(style)
    }
}

extension ColumnUse {
    /// The sentences for people, on a line; empty where there are none.
    fileprivate var lines: String { description.isEmpty ? "" : description + "\n" }
}

extension [LeftOutPost] {
    /// A table of the first posts, behind an empty line; empty where there are none.
    fileprivate func table(_ style: TextStyle) -> String {
        guard !isEmpty else { return "" }
        var table = TextTable([
            .number("LINE"), .number("ACTUAL"), .number("LIMIT"), .text("FIELD"), .text("REASON"),
        ])
        for post in prefix(Self.shownCount) {
            table.append([
                "\(post.line)", post.shownActual, post.shownLimit, post.field, post.reason,
            ])
        }
        let rest = count - Self.shownCount
        let more = rest > 0 ? "… and \(rest) more; --json names them all.\n" : ""
        return "\n" + table.rendered(style) + more
    }

    /// The most rows that are shown; a file of another kind may have a million.
    private static var shownCount: Int { 200 }
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
