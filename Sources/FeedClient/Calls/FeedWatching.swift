/// A client that also has watches: ``FeedClient``, or a stand-in for it.
///
/// It is a protocol of its own, so that a type that answers calls alone need not have watches. A program
/// that watches takes an `any FeedWatching`, which is an `any FeedCalling` too.
public protocol FeedWatching: FeedCalling {
    /// The posts of a watch, which follow their changes; it begins with the first iteration.
    ///
    /// - Parameters:
    ///   - watch: What is watched.
    ///   - interval: The least time between two changes, from 50 ms to a minute; nil is 250 ms.
    /// - Returns: The newest state, whenever something has changed.
    func watch(_ watch: PostWatch, interval: Duration?) -> WatchSequence
}

extension FeedWatching {
    /// The posts of a watch, which follow their changes at most four times a second.
    public func watch(_ watch: PostWatch) -> WatchSequence { self.watch(watch, interval: nil) }
}
