package import FeedConcurrency

/// A query for a page of a list.
package struct PageQuery: Sendable {
    /// The start of a page.
    package enum Start: Equatable, Sendable {
        case first
        /// The page starts with the post of this rank (1 = the list's first).
        case rank(UInt64)
        /// The page has this post in the middle.
        case around(PostID)
        /// The page has posts that were created after this one, the oldest of them first.
        case newerThan(PostID)
        case cursor(PageCursor)
    }

    /// The feed to list; nil is the front page over all feeds.
    package var feed: FeedID?
    /// The order of the list.
    package var order: Order
    /// The window of the list, where the order allows one; nil is all time.
    package var window: Window?
    /// The number of rows wanted, 1 to `RankingLimits.maximumPageSize`.
    package var size: Int
    /// The start of the page in the list.
    package var start: Start
    /// The page ends before a post whose texts would pass this, but not before its first post.
    package var byteLimit: Int
    /// The voter whose ballots the rows show.
    package var voter: VoterID?
    /// The marks of that voter, which the rows show and the filter goes by; nil where there are none.
    package var marks: ViewerMarks?
    /// Which posts the page shows.
    package var filter = PageFilter()
    /// Whether the page is read from a snapshot, if there is one for the caller.
    package var stability: Stability = .live
    /// Whether no other thread changes posts meanwhile, so that later posts come behind the newest
    /// also if they have its time.
    package var isAlone = false
    /// The revision that a snapshot which a cursor names must have at least; an older one is left, and
    /// the page is read as of now.
    package var minimumRevision: UInt64 = 0
    /// The time, from which snapshots are kept; a page without one needs none.
    package var now = MonotonicInstant(nanoseconds: 0)

    /// Whether a page is read from a snapshot.
    package enum Stability: Equatable, Sendable {
        /// From a snapshot only where a cursor names it.
        case live
        /// From a snapshot that has all changes up to a revision.
        case stable(from: UInt64)
    }

    /// Makes a query, from the start of the list unless another start is given.
    package init(
        feed: FeedID?,
        order: Order,
        window: Window? = nil,
        size: Int,
        start: Start = .first,
        byteLimit: Int = .max,
        voter: VoterID? = nil
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.size = size
        self.start = start
        self.byteLimit = byteLimit
        self.voter = voter
    }
}

extension PageQuery {
    /// Whether the page begins at an end of the list or at a place, and not at what may move.
    var isOfKnownStart: Bool {
        switch start {
        case .first, .cursor: true
        case .rank, .around, .newerThan: false
        }
    }

    /// The token of a page that lies beside a place of the list.
    func cursor(
        _ direction: PageCursor.Direction,
        beside position: ListPosition,
        rank: UInt64
    ) -> PageCursor {
        PageCursor(
            feed: feed,
            order: order,
            window: window,
            direction: direction,
            position: position,
            rank: rank
        )
    }
}

/// The outcome of a call for a page.
package enum PageOutcome: Equatable, Sendable {
    /// The page is filled.
    case done
    /// The allowance is used up: renew it and call again in a later loop iteration.
    ///
    /// Refreshed posts stay refreshed.
    case again
    /// Another caller is taking the snapshot of the page: call again in a later loop iteration, with the
    /// same allowance, as no work was done.
    case wait
}

/// The outcome of a call for a rank.
package enum RankOutcome: Equatable, Sendable {
    /// The rank (1 = best) within the post's own feed, and how many posts the list has.
    case done(rank: UInt64, total: UInt64)
    /// The allowance is used up: renew it and call again in a later loop iteration.
    ///
    /// Refreshed posts stay refreshed.
    case again
}
