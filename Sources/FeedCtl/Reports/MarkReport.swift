/// What is left to read, as `mark` reports it.
package struct MarkReport: Report, Equatable {
    /// The feed; empty is the front page.
    let feed: String
    /// How many of its posts the caller has neither read nor dismissed.
    let unreadCount: UInt64

    /// The report of marks that were made.
    package init(feed: String, unreadCount: UInt64) {
        self.feed = feed
        self.unreadCount = unreadCount
    }

    /// One line.
    package func text(_ style: TextStyle) -> String {
        "Unread: \(unreadCount).\n"
    }
}
