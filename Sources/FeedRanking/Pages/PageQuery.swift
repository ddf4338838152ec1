/// Which page of which list is wanted.
package struct PageQuery: Sendable {
    /// Where a page begins.
    package enum Start: Equatable, Sendable {
        case first
        /// The post of this rank first (1 = the list's first).
        case rank(UInt64)
        /// This post in the middle.
        case around(PostID)
        case cursor(PageCursor)
    }

    /// The feed to list; nil is the front page over all feeds.
    package var feed: FeedID?
    /// The order of the list.
    package var order: Order
    /// The rows wanted, 1 to `RankingLimits.maximumPageSize`.
    package var size: Int
    /// Where in the list the page begins.
    package var start: Start
    /// The page ends before the post whose texts would pass this, but not before its first.
    package var byteLimit: Int
    /// Whose ballots the rows show.
    package var voter: VoterID?

    /// A page of a list, from its start unless told otherwise.
    package init(
        feed: FeedID?,
        order: Order,
        size: Int,
        start: Start = .first,
        byteLimit: Int = .max,
        voter: VoterID? = nil
    ) {
        self.feed = feed
        self.order = order
        self.size = size
        self.start = start
        self.byteLimit = byteLimit
        self.voter = voter
    }
}

/// How a call for a page ended.
package enum PageOutcome: Equatable, Sendable {
    /// The page is filled.
    case done
    /// The budget is used up: renew it and call again in a later turn; what is settled stays so.
    case again
}

/// How a call for a rank ended.
package enum RankOutcome: Equatable, Sendable {
    /// The rank (1 = best) within the post's own feed, and how many posts the feed has.
    case done(rank: UInt64, total: UInt64)
    /// The budget is used up: renew it and call again in a later turn; what is settled stays so.
    case again
}
