internal import FeedRanking

/// The scope of a page token: one list, as one caller sees it.
struct PageTokenScope: Equatable {
    /// The feed; nil is the front page over all feeds.
    var feed: FeedID?
    /// The order.
    var order: Order
    /// The window; nil is all time.
    var window: Window?
    /// The caller's device; nil is an anonymous caller.
    var device: Caller.Device?
    /// The user that the caller is, or acts for; nil is none.
    var userID: UInt64?
    /// The author of all posts; 0 is any.
    var authorID: UInt64 = 0
    /// Whether the pages have only posts that the viewer has not read.
    var isUnreadOnly = false
    /// Whether the pages have posts that the viewer has dismissed.
    var includesDismissed = false

    /// Whether the caller has no identity.
    var isOfNobody: Bool { device == nil && userID == nil }

    /// The scope of the same list for a caller without identity.
    var ofNobody: PageTokenScope {
        var scope = self
        (scope.device, scope.userID) = (nil, nil)
        return scope
    }

    /// Whether the list is not what it is without a filter.
    var isFiltered: Bool { authorID != 0 || isUnreadOnly || includesDismissed }
}
