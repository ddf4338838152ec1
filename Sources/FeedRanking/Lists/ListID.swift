/// A list: the posts of a feed or of all feeds, in one order, of all time or of a window.
struct ListID {
    /// The feed; nil is all feeds.
    var feed: FeedID?
    /// What the list is sorted by.
    var kind: KeyKind
    /// The window; nil is all time.
    var span: WindowSpan?
    /// The time of the read, in Unix milliseconds; it counts for side lists only.
    var readTime: Int64 = 0

    /// The list of a feed, by its kind.
    init(feed: FeedID?, kind: KeyKind) {
        self.feed = feed
        self.kind = kind
    }

    /// Whether the list is never dropped; all others are side lists.
    @inline(__always)
    var isStanding: Bool { span == nil && kind.isStanding }

    /// Whether a post of a time is in the window.
    @inline(__always)
    func hasTime(_ createTimeMilliseconds: Int64) -> Bool {
        guard let span else { return true }
        return createTimeMilliseconds > span.start
    }
}

/// A window as of a time.
struct WindowSpan {
    /// The window.
    var window: Window
    /// The Unix time after which a post of the window was created, in milliseconds.
    var start: Int64
    /// The era of the clock (`WindowClock`) that the start is of.
    var era: UInt64

    /// The window that ends at a time.
    init(_ window: Window, endingAt time: Int64, _ era: UInt64) {
        self.window = window
        self.era = era
        start = time - window.milliseconds
    }
}
