/// What is left to read, as `mark` reports it.
package struct MarkReport: Report, Equatable {
    /// The feed; empty is the front page.
    let feed: String
    /// How many of its posts the caller has neither read nor dismissed.
    let unreadCount: UInt64
    /// How many of the posts that were named exist, and so were marked; nil where none was named.
    let markedCount: Int?
    /// The posts that do not exist; nil where none was named.
    let missingIDs: [UInt64]?

    private enum CodingKeys: String, CodingKey {
        case feed, unreadCount, markedCount
        case missingIDs = "missingIds"
    }

    /// The report of marks that were made.
    package init(feed: String, unreadCount: UInt64) {
        self.feed = feed
        self.unreadCount = unreadCount
        markedCount = nil
        missingIDs = nil
    }

    /// The report of marks of posts that were named; those that do not exist got none.
    package init(feed: String, unreadCount: UInt64, of ids: [UInt64], missing: [UInt64]) {
        self.feed = feed
        self.unreadCount = unreadCount
        missingIDs = missing.sorted()
        markedCount = Set(ids).subtracting(missing).count
    }

    /// Not where posts were named, and none of them exists.
    package var isDone: Bool { markedCount != 0 }

    /// One line, and one before it where posts were named.
    package func text(_ style: TextStyle) -> String {
        var line = ""
        if let markedCount { line += "Marked: \(markedCount)." }
        if let missingIDs, !missingIDs.isEmpty {
            let ids = missingIDs.map(String.init).joined(separator: ", ")
            line += " No such post: \(ids)."
        }
        return (line.isEmpty ? "" : line + "\n") + "Unread: \(unreadCount).\n"
    }
}
