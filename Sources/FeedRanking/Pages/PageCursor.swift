/// The content of a page token: the place where a walk through a list continues.
package struct PageCursor: Equatable, Sendable {
    /// The side of the position on which the page lies.
    package enum Direction: UInt8, Sendable {
        case after
        case before
        /// The page has the posts that were created after the position, which is one of NEW.
        case newer
    }

    /// A place in a snapshot.
    package struct SnapshotPlace: Equatable, Sendable {
        /// The number of the snapshot.
        package var id: UInt64
        /// The first entry behind the position, or the one at which a page before it ends.
        package var index: UInt32

        /// A place in a snapshot, which may be dropped since.
        package init(id: UInt64, index: UInt32) {
            self.id = id
            self.index = index
        }
    }

    /// The feed of the list; nil is the front page over all feeds.
    package var feed: FeedID?
    /// The order of the list.
    package var order: Order
    /// The window of the list; nil is all time.
    package var window: Window?
    /// Whether the page lies behind the position or before it.
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
