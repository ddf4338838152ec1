public import FeedClient
import FeedConcurrency
public import FeedProto

/// What the copy has. Nothing here needs a network.
extension OfflineFeed {
    /// The most posts of a page.
    public static let maximumPageSize = 10_000

    /// Reads a page of a list, in the service's order.
    ///
    /// It shows the changes of the account that has signed in now, whose votes count in the orders.
    /// A post that was made here has a local id (``LocalPostID``) until the service has it.
    ///
    /// - Parameters:
    ///   - list: The list; its `consistency` does not matter, and RISING cannot be computed.
    ///   - start: Where the page starts.
    ///   - limit: The most posts, 1 to ``maximumPageSize``; a number beside that is the nearest one.
    /// - Returns: The page. It takes O(limit · log posts), and as much for each post that a filter or
    ///   a window leaves out.
    /// - Throws: ``OfflineError/unsupportedOrder(_:)``, or an error of the file.
    public func posts(
        _ list: PostList = PostList(),
        from start: OfflineStart = .first,
        limit: Int = 20
    ) throws(OfflineError) -> OfflinePage {
        try performAsUser { store, _ throws(OfflineError) in
            try store.page(
                list,
                from: start,
                limit: min(max(1, limit), Self.maximumPageSize),
                at: SystemClock.unixMilliseconds()
            )
        }
    }

    /// How many posts a list has in the copy; O(posts).
    public func postCount(_ list: PostList = PostList()) throws(OfflineError) -> Int {
        try performAsUser { store, _ throws(OfflineError) in
            try store.count(list, at: SystemClock.unixMilliseconds())
        }
    }

    /// A post by its id, or by the local id under which it was made; nil where the copy has it not.
    public func post(_ id: UInt64) throws(OfflineError) -> Post? {
        try performAsUser { store, _ throws(OfflineError) in try store.shown(store.currentID(id)) }
    }

    /// The changes of all accounts that have no answer yet, in the order in which they were made;
    /// O(entries).
    public func outbox() throws(OfflineError) -> [OutboxEntry] {
        try perform { store throws(OfflineError) in try store.entries() }
    }

    /// The account as which changes are made now; 0 is the device, with nobody signed in.
    ///
    /// It is what ``OfflineConfiguration/client``'s session store says, which each change and each read of
    /// posts asks.
    public var userID: UInt64 { configuration.client.sessionStore?.load()?.userID ?? 0 }

    /// The device that the service knows the outbox's changes by.
    public func clientID() throws(OfflineError) -> ClientID {
        try perform { store throws(OfflineError) in try store.identity().clientID }
    }

    /// Runs work on the file once lists show the changes of the account that has signed in now.
    ///
    /// People sign in and out without a call of the feed. So each read and each change asks who it is.
    func performAsUser<Result>(
        _ body: (OfflineStore, UInt64) throws(OfflineError) -> Result
    ) throws(OfflineError) -> Result {
        let userID = userID
        return try perform { store throws(OfflineError) in
            try store.show(as: userID)
            return try body(store, userID)
        }
    }
}
