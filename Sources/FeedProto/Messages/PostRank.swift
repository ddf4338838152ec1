/// Asks for a post's place in its feed.
public struct GetPostRankRequest: Equatable, Sendable {
    /// The post.
    public var id: UInt64
    /// The order; unspecified is the feed's default.
    public var order: Order

    /// A request, by default for the feed's default order.
    public init(id: UInt64, order: Order = .unspecified) {
        self.id = id
        self.order = order
    }
}

/// A post's place in its feed.
public struct PostRank: Equatable, Sendable {
    /// The place; 1 is the best.
    public var rank: UInt64
    /// How many posts the feed has.
    public var totalSize: UInt64

    /// A place among `totalSize` posts.
    public init(rank: UInt64, totalSize: UInt64) {
        self.rank = rank
        self.totalSize = totalSize
    }
}
