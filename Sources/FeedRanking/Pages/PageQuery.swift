package import FeedConcurrency
package import FeedOrders

package struct PageQuery: Sendable {
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
    package var order: Order
    /// The window of the list, where the order allows one; nil is all time.
    package var window: Window?
    /// The number of rows wanted, 1 to `RankingLimits.maximumPageSize`.
    package var size: Int
    package var start: Start
    /// The page ends before a post whose texts would pass this, but not before its first post.
    package var byteLimit: Int
    /// The voter whose ballots the rows show.
    package var voter: VoterID?
    /// The marks of that voter, which the rows show and the filter goes by; nil where there are none.
    package var marks: ViewerMarks?
    package var filter = PageFilter()
    package var stability: Stability = .live
    /// Whether no other thread changes posts meanwhile, so that later posts come behind the newest
    /// also if they have its time.
    package var isAlone = false
    /// The revision that a snapshot which a cursor names must have at least; an older one is left, and
    /// the page is read as of now.
    package var minimumRevision: UInt64 = 0
    /// The time, from which snapshots are kept; a page without one needs none.
    package var now = MonotonicInstant(nanoseconds: 0)

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

package enum PageOutcome: Equatable, Sendable {
    case done
    /// The allowance is used up: renew it and call again in a later loop iteration.
    ///
    /// Refreshed posts stay refreshed.
    case again
    /// Another caller is taking the snapshot of the page: call again in a later loop iteration, with the
    /// same allowance, as no work was done.
    case wait
}

package enum RankOutcome: Equatable, Sendable {
    /// The rank (1 = best) within the post's own feed, and how many posts the list has.
    case done(rank: UInt64, total: UInt64)
    /// The allowance is used up: renew it and call again in a later loop iteration.
    ///
    /// Refreshed posts stay refreshed.
    case again
}

/// Which posts of a list a page shows.
package struct PageFilter: Hashable, Sendable {
    /// Only posts of this user; 0 is all authors.
    package var authorID: UInt64 = 0
    /// Only posts that the viewer has not read; those that it has dismissed are a matter apart.
    package var isUnreadOnly = false
    /// Whether the page shows posts that the viewer has dismissed.
    package var includesDismissed = false

    package init() {}

    /// Whether a post may fail to pass, with the marks of the viewer.
    package func isNeeded(_ marks: ViewerMarks?) -> Bool {
        authorID != 0 || (marks != nil && isUnreadOnly)
            || (!includesDismissed && marks?.mayDismiss == true)
    }

    func passes(_ record: PostRecord, _ id: PostID, _ marks: ViewerMarks?) -> Bool {
        guard authorID == 0 || authorID == PostContent.user(ofAuthor: record.content.authorID)
        else { return false }
        guard let marks else { return true }
        let state = marks.state(of: PostOrigin(id, record))
        if isUnreadOnly, state.isRead { return false }
        return includesDismissed || !state.isDismissed
    }
}

/// The content of a page token: the place where a walk through a list continues.
package struct PageCursor: Equatable, Sendable {
    /// The side of the position on which the page lies.
    package enum Direction: UInt8, Sendable {
        case after
        case before
        /// The page has the posts that were created after the position, which is one of NEW.
        case newer
    }

    package struct SnapshotPlace: Equatable, Sendable {
        package var id: UInt64
        /// The first entry behind the position, or the one at which a page before it ends.
        package var index: UInt32

        /// A place in a snapshot, which may be dropped since.
        package init(id: UInt64, index: UInt32) {
            self.id = id
            self.index = index
        }
    }

    package var feed: FeedID?
    package var order: Order
    package var window: Window?
    package var direction: Direction
    /// The place beside the page; the page does not have its post.
    package var position: ListPosition
    /// The rank of the position's post when the cursor was made (1 = first).
    package var rank: UInt64
    /// The place in the snapshot that the page is read from; nil for a page of now.
    package var snapshot: SnapshotPlace?

    package init(
        feed: FeedID?,
        order: Order,
        window: Window? = nil,
        direction: Direction,
        position: ListPosition,
        rank: UInt64,
        snapshot: SnapshotPlace? = nil
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.direction = direction
        self.position = position
        self.rank = rank
        self.snapshot = snapshot
    }
}
