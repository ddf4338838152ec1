package import FeedProto

/// All feeds, as `feeds` reports them.
package struct FeedsReport: Report, Equatable {
    /// One feed and its policy.
    struct Row: Encodable, Equatable, Sendable {
        let name: String
        let postCount: UInt64
        /// `top`, `new`, `old` or `hot`.
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
                defaultOrder: feed.defaultOrder.description.lowercased(),
                voteMode: feed.voteMode.description.lowercased(),
                voters: feed.voters == .unspecified ? "" : feed.voters.description.lowercased(),
                unreadCount: feed.unreadCount,
                maxTitleLength: feed.maximumTitleLength,
                minTextLength: feed.minimumTextLength,
                maxTextLength: feed.maximumTextLength
            )
        }
    }

    /// A table.
    package func text(_ style: TextStyle) -> String {
        var table = TextTable([
            .text("FEED"), .number("POSTS"), .text("ORDER"), .text("VOTES"), .number("TITLE"),
            .text("TEXT"),
        ])
        for feed in feeds {
            table.append([
                feed.name, "\(feed.postCount)", feed.defaultOrder, feed.voteMode,
                "to \(feed.maxTitleLength)", "\(feed.minTextLength) to \(feed.maxTextLength)",
            ])
        }
        return table.rendered(columnCount: style.columnCount)
    }
}
