internal import FeedRanking

/// The scope of a page token: one list, as one caller sees it.
struct PageTokenScope {
    /// The feed; nil is the front page over all feeds.
    var feed: FeedID?
    /// The order.
    var order: Order
    /// The window; nil is all time.
    var window: Window?
    /// The caller's device; nil is an anonymous caller.
    var device: Caller.Device?
}
