import FeedConcurrency
public import FeedProto

/// Changes. Each is an entry of the outbox, and on the disk before its function returns. It is a change of
/// the account that has signed in then (``userID``), and is sent as no other.
///
/// All of them may name a post by the local id under which it was made: they wait until the service has
/// the post. All throw ``OfflineError/outboxFull(limit:)``, ``OfflineError/unknownPost(_:)`` for 0 and for
/// a local id that there is not, or an error of the file.
extension OfflineFeed {
    /// Votes on a post; lists show the vote at once.
    @discardableResult
    public func vote(
        on id: UInt64,
        _ direction: VoteDirection
    ) throws(OfflineError) -> OutboxEntry {
        try add(.castVote(CastVoteRequest(postID: id, direction: direction)))
    }

    /// Creates a post; lists show it at once, under the entry's ``OutboxEntry/localPostID``.
    ///
    /// The service gives it its own time when it is sent. Lists leave it out while it failed or is in doubt.
    @discardableResult
    public func createPost(
        _ post: Post,
        in feed: String = "posts"
    ) throws(OfflineError) -> OutboxEntry {
        let feed = feed.isEmpty ? "posts" : feed
        return try add(.createPost(CreatePostRequest(feed: feed, post: post)))
    }

    /// Changes fields of a post, which its id names.
    ///
    /// With a `post.revision` the service refuses the change where somebody has edited the post since. Edits
    /// of the post that wait are the person's own: the change stands on them.
    @discardableResult
    public func updatePost(
        _ post: Post,
        fields: [PostField]
    ) throws(OfflineError) -> OutboxEntry {
        try add(.updatePost(UpdatePostRequest(post: post, updateMask: fields)))
    }

    /// Deletes a post; lists leave it out at once.
    ///
    /// One that was made here and was never sent, or was refused, is forgotten with all its entries. Nothing
    /// is sent then, and the entry is done.
    @discardableResult
    public func deletePost(_ id: UInt64) throws(OfflineError) -> OutboxEntry {
        try add(.deletePost(DeletePostRequest(id: id)))
    }

    /// Marks posts, at most 100, as read, unread, dismissed or restored.
    @discardableResult
    public func mark(_ ids: [UInt64], as mark: Mark) throws(OfflineError) -> OutboxEntry {
        try add(.markPosts(MarkPostsRequest(mark: mark, postIDs: ids)))
    }

    /// Marks all posts of a feed that were created up to one; O(posts).
    ///
    /// The empty name is all feeds.
    @discardableResult
    public func mark(
        through id: UInt64,
        as mark: Mark,
        in feed: String = ""
    ) throws(OfflineError) -> OutboxEntry {
        // A mark that names no post would be one of nothing.
        guard id != 0 else { throw .unknownPost(0) }
        return try add(.markPosts(MarkPostsRequest(feed: feed, mark: mark, throughPostID: id)))
    }

    /// Forgets an entry of any state; lists show its post without it.
    ///
    /// One that was sent may have been executed all the same. With the creation of a post its votes, edits
    /// and marks are forgotten.
    ///
    /// - Throws: ``OfflineError/unknownEntry(_:)`` where it is done or was dropped.
    public func drop(_ number: UInt64) throws(OfflineError) {
        try perform { store throws(OfflineError) in try store.drop(number) }
    }

    /// Sends an entry that failed, is in doubt or waits for another account, with the next sync.
    ///
    /// It is a new change of the account that has signed in now. An entry in doubt may then count twice:
    /// the program decides. An edit with a revision takes that of the copy, and so stands on what others have
    /// made of the post.
    ///
    /// - Throws: ``OfflineError/unknownEntry(_:)`` where it waits for a service, was sent, is done or was
    ///   dropped, and ``OfflineError/unknownPost(_:)`` where it names a post that was made here and has
    ///   been deleted since.
    public func resend(_ number: UInt64) throws(OfflineError) {
        try performAsUser { store, userID throws(OfflineError) in
            try store.resend(number, as: userID)
        }
    }

    private func add(_ request: Request) throws(OfflineError) -> OutboxEntry {
        let limit = configuration.maximumOutboxCount
        return try performAsUser { store, userID throws(OfflineError) in
            try store.add(
                request,
                as: userID,
                limit: limit,
                at: SystemClock.unixMilliseconds()
            )
        }
    }
}
