internal import FeedConcurrency

/// The watches of a connection.
struct WatchSet {
    /// After how long a connection is looked at again that has not taken its last events, or that the
    /// budget has no room for.
    static let retryInterval = Duration.milliseconds(50)

    /// The watches, in the order in which they began.
    var watches: [Watch] = []
    /// The tick in which the connection's loop serves them next; nil where it does so soon, or never.
    var servedTick: UInt64?
    /// Whether the connection waits for the loop to serve it.
    var isReady = false
    /// The commit batch that the last events wait for: until it is durable, none are built.
    var pendingBatch: UInt64 = 0

    /// Whether there are none.
    var isEmpty: Bool { watches.isEmpty }

    /// When the next event may be sent; nil where there are no watches.
    var due: MonotonicInstant? { watches.lazy.map(\.due).min() }
}
