/// A place in an order that stays where it is when its post moves or goes.
package struct ListPosition: Equatable, Sendable {
    /// The key's first part, ascending in the order of the list.
    package var primary: UInt64
    /// The key's second part: for `top` the first eight bytes of the title.
    package var secondary: UInt64
    /// Decides last; the post need not live any more.
    package var id: PostID
    /// The title's UTF-8, for `top` only: it decides between equal scores.
    package var title: [UInt8]

    /// A place as it was read from a post's key, or out of a token.
    package init(primary: UInt64, secondary: UInt64, id: PostID, title: [UInt8]) {
        self.primary = primary
        self.secondary = secondary
        self.id = id
        self.title = title
    }
}

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
