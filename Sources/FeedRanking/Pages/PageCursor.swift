/// What a page token carries: where a walk through a list goes on.
package struct PageCursor: Equatable, Sendable {
    /// Which side of the position the page lies on.
    package enum Direction: UInt8, Sendable {
        case after
        case before
    }

    /// The feed walked; nil is the front page over all feeds.
    package var feed: FeedID?
    /// The order walked.
    package var order: Order
    /// Whether the page lies behind the position or before it.
    package var direction: Direction
    /// The place that the page leaves out and lies beside.
    package var position: ListPosition
    /// The rank the position's post had (1 = first).
    package var rank: UInt64

    package init(
        feed: FeedID?,
        order: Order,
        direction: Direction,
        position: ListPosition,
        rank: UInt64
    ) {
        self.feed = feed
        self.order = order
        self.direction = direction
        self.position = position
        self.rank = rank
    }
}
