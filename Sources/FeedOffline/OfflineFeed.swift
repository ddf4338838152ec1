public import FeedClient
import FeedConcurrency
public import FeedProto

/// The copy of a service's posts on this device, and the changes that wait to be sent.
///
/// All reads are answered from the file, without a network, and show the changes of the outbox that the
/// account that has signed in has made. Each change is on the disk before its function returns.
/// ``sync()`` sends the outbox, each entry exactly once, and brings the copy up to date.
///
/// ```swift
/// let feed = try await OfflineFeed.open(OfflineConfiguration(path: "feed.db"))
/// try await feed.vote(on: 300, .up)
/// print(try await feed.posts(PostList(order: .top)).posts.map(\.title))
/// try await feed.sync()
/// ```
///
/// An actor runs the file's work, most of it within a millisecond, so no caller is blocked; a change waits
/// for a sync of the disk. One process has the file at a time.
public actor OfflineFeed {
    /// What was found when the file was opened; nil where nothing was wrong.
    public nonisolated let notice: OfflineNotice?
    /// What changes, as it happens, by this process: posts, the outbox, the file.
    public nonisolated var changes: OfflineChanges { OfflineChanges(board: board) }

    let configuration: OfflineConfiguration
    nonisolated let board = ChangeBoard()
    private var store: OfflineStore?
    /// How often the file, or its copy of posts, was begun anew.
    ///
    /// Entries of a new file have the numbers of those in the old one, and the answer to an earlier request
    /// is no part of a new copy. So a sync ends with the file and the copy that it began with.
    private(set) var renewalCount = 0
    /// The damage that was found last.
    private var damage: OfflineError?
    let wait: @Sendable (Duration) async -> Void
    let connect: Connect
    private let wrap: @Sendable (any OutboxFile) -> any OutboxFile
    private var runningSync: Task<Result<SyncReport, OfflineError>, Never>?
    /// Those who wait for the sync that runs, by numbers.
    private var syncWaiters: Set<UInt64> = []
    private var lastSyncWaiter: UInt64 = 0
    /// Whether something was changed or asked for that the sync that began last may not have seen.
    private var isSyncRequested = false
    /// Wakes ``runSyncs(every:_:)`` while it waits.
    private var syncRequests: AsyncStream<Void>.Continuation?

    /// Opens a file, and makes it where there is none.
    ///
    /// A file that cannot be read, or is of another program or version, is moved aside and begun anew, which
    /// ``notice`` says: its outbox is lost.
    ///
    /// - Throws: ``OfflineError/inUse(path:)``, ``OfflineError/otherClient(path:)`` or
    ///   ``OfflineError/file(reason:)``.
    public static func open(
        _ configuration: OfflineConfiguration
    ) async throws(OfflineError) -> OfflineFeed {
        try await open(configuration, wrapping: { $0 })
    }

    /// Makes what a sync calls the service through; it is closed after the sync.
    ///
    /// The configuration is that of the feed with the file's device and channel.
    public typealias Connect =
        @Sendable (ClientConfiguration) async throws(FeedClientError) -> any FeedCalling

    /// Opens a file whose syncs call the service through what a function makes, as one in memory.
    ///
    /// ```swift
    /// let service = InMemoryFeedService()
    /// let feed = try await OfflineFeed.open(configuration, connecting: service.connect(_:))
    /// ```
    ///
    /// Changes have the file's sequences over a `FeedClient` and over a service in memory. Over any other
    /// type they have none, and one whose call may have been executed is in doubt.
    ///
    /// - Throws: As ``open(_:)``.
    public static func open(
        _ configuration: OfflineConfiguration,
        connecting connect: @escaping Connect
    ) async throws(OfflineError) -> OfflineFeed {
        try await open(configuration, wrapping: { $0 }, connecting: connect)
    }

    /// Opens a file whose outbox is sent through a wrapper of it, and whose syncs wait between two tries and
    /// connect as functions say, as the audits of tests do.
    package static func open(
        _ configuration: OfflineConfiguration,
        wrapping wrap: @escaping @Sendable (any OutboxFile) -> any OutboxFile,
        waiting wait: @escaping @Sendable (Duration) async -> Void = {
            try? await Task.sleep(for: $0)
        },
        connecting connect: Connect? = nil
    ) async throws(OfflineError) -> OfflineFeed {
        if let connect { return try OfflineFeed(configuration, wrap, wait, connect) }
        let addresses = configuration.addresses
        let dial: Connect = { configuration throws(FeedClientError) in
            try await FeedClient.connect(to: addresses, configuration: configuration)
        }
        return try OfflineFeed(configuration, wrap, wait, dial)
    }

    private init(
        _ configuration: OfflineConfiguration,
        _ wrap: @escaping @Sendable (any OutboxFile) -> any OutboxFile,
        _ wait: @escaping @Sendable (Duration) async -> Void,
        _ connect: @escaping Connect
    ) throws(OfflineError) {
        precondition(
            configuration.client.sessionToken == nil,
            "An offline feed takes its session from a session store, which says whose it is."
        )
        self.configuration = configuration
        self.wrap = wrap
        self.wait = wait
        self.connect = connect
        (store, notice) = try OfflineStore.open(configuration)
    }

    /// Ends a sync, closes the file and ends all ``changes``; later calls are ``OfflineError/closed``.
    public func close() async {
        while let runningSync {
            runningSync.cancel()
            _ = await runningSync.value
        }
        store = nil
        beginSyncSoon()
        board.finish()
    }

    /// Runs work on the file and tells the readers of changes what it has changed.
    ///
    /// Damage that is found now is mended: posts that cannot be read are dropped, and other damage moves
    /// the file aside. Work that names a ``renewalCount`` ends with the damage where that is past.
    func perform<Result>(
        in renewal: Int? = nil,
        _ body: (OfflineStore) throws(OfflineError) -> Result
    ) throws(OfflineError) -> Result {
        guard let store else { throw .closed }
        guard renewal == nil || renewal == renewalCount else { throw damage ?? .closed }
        do throws(OfflineError) {
            let result = try body(store)
            board.post(store.takeChange())
            return result
        } catch {
            // What was undone cannot be told from what was not.
            var change = store.takeChange()
            if !change.isEmpty { change.isEverything = true }
            change.merge(try mend(error, of: store))
            board.post(change)
            throw error
        }
    }

    /// Runs work on the outbox as the audits of tests see it.
    func performOnOutbox<Result>(
        in renewal: Int,
        _ body: (any OutboxFile) throws(OfflineError) -> Result
    ) throws(OfflineError) -> Result {
        let wrap = wrap
        return try perform(in: renewal) { store throws(OfflineError) in try body(wrap(store)) }
    }

    /// Begins anew what an error says is damaged, and returns what to tell readers.
    private func mend(
        _ error: OfflineError,
        of damaged: OfflineStore
    ) throws(OfflineError) -> OfflineChange {
        var change = OfflineChange()
        switch error {
        case .damaged(let reason):
            (renewalCount, damage) = (renewalCount + 1, error)
            store = nil
            let movedTo = try OfflineStore.moveAside(configuration.path)
            store = try OfflineStore(configuration)
            change.notice = .outboxLost(movedTo: movedTo, reason: reason)
            change.hasOutboxChanged = true
        case .damagedPosts:
            (renewalCount, damage) = (renewalCount + 1, error)
            do throws(OfflineError) {
                try damaged.mendCopy()
            } catch {
                // More is damaged than posts.
                return try mend(error, of: damaged)
            }
            _ = damaged.takeChange()
            change.notice = .postsDropped
        default: return change
        }
        change.isEverything = true
        return change
    }

    /// Sends the outbox and then brings the copy up to date; a sync that runs is joined, unless a change was
    /// made since it began.
    ///
    /// A sync ends once the tasks of all that wait for it are cancelled.
    ///
    /// The entries of the account that has signed in leave in the order in which they were made, each under
    /// a sequence that is in the file before; those of others wait. What the service refuses is kept as
    /// failed, and what it cannot tell as in doubt.
    ///
    /// - Returns: What was done.
    /// - Throws: ``OfflineError/service(_:)`` where the service cannot be reached. What was sent and
    ///   copied before stays.
    @discardableResult
    public func sync() async throws(OfflineError) -> SyncReport {
        // It may be past its outbox, or ends for those who have left it.
        while let runningSync, isSyncRequested || runningSync.isCancelled {
            _ = await runningSync.value
        }
        let task: Task<Result<SyncReport, OfflineError>, Never>
        if let runningSync {
            task = runningSync
        } else {
            isSyncRequested = false
            task = Task {
                defer { runningSync = nil }
                do throws(OfflineError) {
                    return .success(try await run())
                } catch {
                    return .failure(error)
                }
            }
            runningSync = task
        }
        lastSyncWaiter += 1
        let waiter = lastSyncWaiter
        syncWaiters.insert(waiter)
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            Task { await leaveSync(waiter) }
        }
        syncWaiters.remove(waiter)
        return try result.get()
    }

    /// How many tasks wait for the sync that runs.
    package var syncWaiterCount: Int { syncWaiters.count }

    /// Notes that a task that waits for a sync is cancelled, and ends the sync with the last one.
    private func leaveSync(_ waiter: UInt64) {
        guard syncWaiters.remove(waiter) != nil, syncWaiters.isEmpty else { return }
        runningSync?.cancel()
    }

    /// Syncs until its task is cancelled: at once, after each change, whenever ``requestSync()`` is called,
    /// and now and then.
    ///
    /// One task runs it at a time.
    ///
    /// ```swift
    /// Task { await feed.runSyncs { print($0) } }
    /// for await isOnline in network where isOnline { await feed.requestSync() }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: The time from the end of a sync to the next one, if nobody asks for one before; after
    ///     failures less, at most 5, 10, 20 and so on seconds.
    ///   - report: Takes what each sync has done, or why it failed; a sync that was cancelled is not told.
    public func runSyncs(
        every interval: Duration = .seconds(300),
        _ report: @Sendable (Result<SyncReport, OfflineError>) async -> Void = { _ in }
    ) async {
        var policy = RetryPolicy()
        (policy.baseDelay, policy.maximumDelay) = (.seconds(5), interval)
        let backoff = Backoff(policy)
        var generator = SystemRandomNumberGenerator()
        var failureCount = 0
        while !Task.isCancelled {
            let result: Result<SyncReport, OfflineError>
            do throws(OfflineError) {
                result = .success(try await sync())
                failureCount = 0
            } catch {
                if case .closed = error { return }
                result = .failure(error)
                failureCount += 1
            }
            guard !Task.isCancelled else { return }
            await report(result)
            guard !isSyncRequested else { continue }
            let (requests, continuation) = AsyncStream<Void>.makeStream()
            syncRequests = continuation
            let wait = wait
            // The time until the next try after failures, and the one that is waited now.
            let retry = backoff.delay(round: failureCount, using: &generator)
            let pause = failureCount == 0 ? interval : min(retry, interval)
            await withTaskGroup { group in
                group.addTask { await wait(pause) }
                group.addTask { for await _ in requests { return } }
                _ = await group.next()
                group.cancelAll()
            }
            syncRequests = nil
        }
    }

    /// Lets ``runSyncs(every:_:)`` sync soon, as when the network has come.
    ///
    /// Call it after a sign-in and after a sign-out, too: observers then show the account's lists.
    public func requestSync() {
        board.wake()
        beginSyncSoon()
    }

    private func beginSyncSoon() {
        isSyncRequested = true
        syncRequests?.yield()
    }
}

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
    public func post(_ id: PostID) throws(OfflineError) -> Post? {
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
    public var userID: UserID { configuration.client.sessionStore?.load()?.userID ?? 0 }

    /// The device that the service knows the outbox's changes by.
    public func clientID() throws(OfflineError) -> ClientID {
        try perform { store throws(OfflineError) in try store.identity().clientID }
    }

    /// Runs work on the file once lists show the changes of the account that has signed in now.
    ///
    /// People sign in and out without a call of the feed. So each read and each change asks who it is.
    private func performAsUser<Result>(
        _ body: (OfflineStore, UserID) throws(OfflineError) -> Result
    ) throws(OfflineError) -> Result {
        let userID = userID
        return try perform { store throws(OfflineError) in
            try store.show(as: userID)
            return try body(store, userID)
        }
    }
}

/// Changes. Each is an entry of the outbox, and on the disk before its function returns. It is a change of
/// the account that has signed in then (``userID``), and is sent as no other.
///
/// All of them may name a post by the local id under which it was made: they wait until the service has
/// the post. All throw ``OfflineError/refused(_:)``, ``OfflineError/outboxFull(limit:)``,
/// ``OfflineError/unknownPost(_:)`` for 0 and for a local id that there is not, or an error of the file.
extension OfflineFeed {
    /// Votes on a post; lists show the vote at once.
    @discardableResult
    public func vote(
        on id: PostID,
        _ direction: VoteDirection
    ) throws(OfflineError) -> OutboxEntry {
        try add(.castVote(CastVoteRequest(postID: id, direction: direction)))
    }

    /// Creates a post; lists show it at once, under the entry's ``OutboxEntry/localPostID``.
    ///
    /// The service gives it its own time when it is sent. Lists leave it out while it failed or is in doubt.
    @discardableResult
    public func createPost(
        _ draft: PostDraft,
        in feed: String = "posts"
    ) throws(OfflineError) -> OutboxEntry {
        let feed = feed.isEmpty ? "posts" : feed
        return try add(.createPost(CreatePostRequest(feed: feed, post: draft.post())))
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

    /// Edits a post as lists show it: the fields that the closure changes.
    ///
    /// The edit stands on `post.revision`, as one of ``updatePost(_:fields:)``.
    ///
    /// - Returns: The entry; nil of an edit that changes nothing.
    @discardableResult
    public func editPost(
        _ post: Post,
        _ edit: (inout PostDraft) -> Void
    ) throws(OfflineError) -> OutboxEntry? {
        guard let request = UpdatePostRequest(editing: post, edit) else { return nil }
        return try add(.updatePost(request))
    }

    /// Deletes a post; lists leave it out at once.
    ///
    /// One that was made here and was never sent, or was refused, is forgotten with all its entries. Nothing
    /// is sent then, and the entry is done.
    @discardableResult
    public func deletePost(_ id: PostID) throws(OfflineError) -> OutboxEntry {
        try add(.deletePost(DeletePostRequest(id: id)))
    }

    /// Marks posts, at most 100, as read, unread, dismissed or restored.
    @discardableResult
    public func mark(_ ids: [PostID], as mark: Mark) throws(OfflineError) -> OutboxEntry {
        try add(.markPosts(MarkPostsRequest(mark: mark, postIDs: ids)))
    }

    /// Marks all posts of a feed that were created up to one; O(posts).
    ///
    /// The empty name is all feeds.
    @discardableResult
    public func mark(
        through id: PostID,
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
        beginSyncSoon()
    }

    /// Takes the waiting changes of the device, which were made with nobody signed in, along to the account
    /// that has signed in; the next sync sends them.
    ///
    /// Ask the person first: somebody else may have made them. Those that were sent without an answer stay
    /// the device's, as the service may know them.
    ///
    /// - Returns: How many there were; 0 with nobody signed in.
    @discardableResult
    public func adopt() throws(OfflineError) -> Int {
        let count = try performAsUser { store, userID throws(OfflineError) in
            try store.adopt(by: userID)
        }
        beginSyncSoon()
        return count
    }

    private func add(_ request: Request) throws(OfflineError) -> OutboxEntry {
        let limit = configuration.maximumOutboxCount
        let entry = try performAsUser { store, userID throws(OfflineError) in
            try store.add(
                request,
                as: userID,
                limit: limit,
                at: SystemClock.unixMilliseconds()
            )
        }
        beginSyncSoon()
        return entry
    }
}
