/// The content of a page token: the place where a walk through a list continues.
package struct PageCursor: Equatable, Sendable {
    /// The side of the position on which the page lies.
    package enum Direction: UInt8, Sendable {
        case after
        case before
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

    package init(
        feed: FeedID?,
        order: Order,
        window: Window? = nil,
        direction: Direction,
        position: ListPosition,
        rank: UInt64
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.direction = direction
        self.position = position
        self.rank = rank
    }
}
