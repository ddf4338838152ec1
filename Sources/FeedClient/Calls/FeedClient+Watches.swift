extension FeedClient: FeedWatching {
    /// The posts of a watch, which follow their changes over the first connection.
    ///
    /// - Parameters:
    ///   - watch: What is watched.
    ///   - interval: The least time between two changes, from 50 ms to a minute; nil is 250 ms.
    /// - Returns: The newest state, whenever something has changed; its iteration keeps the client.
    public func watch(_ watch: PostWatch, interval: Duration?) -> WatchSequence {
        let request = watch.request(interval: interval)
        return WatchSequence { [links, actingUserID] mailbox in
            links.first.watch(request, actingUserID: actingUserID, mailbox)
        }
    }
}
