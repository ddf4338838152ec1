package import FeedProto

/// All feeds, as `feeds` reports them.
package struct FeedsReport: Report, Equatable {
    /// One feed and its policy.
    struct Row: Encodable, Equatable, Sendable {
        let name: String
        let postCount: UInt64
        /// The order of lists that name none, as `top`.
        let defaultOrder: String
        /// `tally` or `ballot`.
        let voteMode: String
        /// Whose ballots count: `users` or `devices`; empty where votes are tallies.
        let voters: String
        /// How many posts the caller has neither read nor dismissed.
        let unreadCount: UInt64
        let maxTitleLength: UInt32
        let minTextLength: UInt32
        let maxTextLength: UInt32
    }

    let feeds: [Row]

    /// The report of feeds.
    package init(_ feeds: [Feed]) {
        self.feeds = feeds.map { feed in
            Row(
                name: feed.name,
                postCount: feed.postCount,
                defaultOrder: feed.defaultOrder.argument,
                voteMode: feed.voteMode.argument,
                voters: feed.voters.argument,
                unreadCount: feed.unreadCount,
                maxTitleLength: feed.maximumTitleLength,
                minTextLength: feed.minimumTextLength,
                maxTextLength: feed.maximumTextLength
            )
        }
    }

    /// A table.
    package func text(_ style: TextStyle) -> String {
        let hasVoters = feeds.contains { !$0.voters.isEmpty }
        let hasUnread = feeds.contains { $0.unreadCount > 0 }
        var columns: [TextTable.Column] = [.text("FEED"), .number("POSTS")]
        if hasUnread { columns.append(.number("UNREAD")) }
        columns += [.text("ORDER"), .text("VOTES")]
        if hasVoters { columns.append(.text("VOTERS")) }
        var table = TextTable(columns + [.number("TITLE"), .text("TEXT")])
        for feed in feeds {
            var cells = [feed.name, "\(feed.postCount)"]
            if hasUnread { cells.append("\(feed.unreadCount)") }
            cells += [feed.defaultOrder, feed.voteMode]
            if hasVoters { cells.append(feed.voters) }
            cells.append("to \(feed.maxTitleLength)")
            table.append(cells + ["\(feed.minTextLength) to \(feed.maxTextLength)"])
        }
        return table.rendered(style)
    }
}
