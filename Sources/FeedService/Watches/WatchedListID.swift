internal import FeedRanking

/// A list that may be watched.
struct WatchedListID: Hashable {
    /// The feed; nil is the front page over all feeds.
    var feed: FeedID?
    /// The order.
    var order: Order
    /// The window; nil is all time.
    var window: Window?
}
