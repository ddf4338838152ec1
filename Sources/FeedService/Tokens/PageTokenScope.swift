internal import FeedRanking

/// What a page token is good for: one list, as one caller sees it.
struct PageTokenScope {
    /// The feed; nil is the front page over all feeds.
    var feed: FeedID?
    /// The order.
    var order: Order
    /// Who asked; nil is an anonymous caller.
    var device: Caller.Device?
}
