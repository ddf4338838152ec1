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

    private let configuration: OfflineConfiguration
    private nonisolated let board = ChangeBoard()
    private var store: OfflineStore?
    /// How often the file, or its copy of posts, was begun anew.
    ///
    /// Entries of a new file have the numbers of those in the old one, and the answer to an earlier request
    /// is no part of a new copy. So a sync ends with the file and the copy that it began with.
    private var renewalCount = 0
    /// The damage that was found last.
    private var damage: OfflineError?
    private let wait: @Sendable (Duration) async -> Void
    private let connect: Connect
    private let wrap: @Sendable (any OutboxFile) -> any OutboxFile
    private var runningSync: Task<Result<SyncReport, OfflineError>, Never>?

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
        try await open(configuration) { $0 }
    }

    /// Opens the connection of a sync.
    package typealias Connect =
        @Sendable ([String], ClientConfiguration) async throws(FeedClientError) ->
        any NumberedCalling

    /// Opens a file whose outbox is sent through a wrapper of it, and whose syncs wait between two tries and
    /// connect as functions say, as the audits of tests do.
    package static func open(
        _ configuration: OfflineConfiguration,
        wrapping wrap: @escaping @Sendable (any OutboxFile) -> any OutboxFile,
        waiting wait: @escaping @Sendable (Duration) async -> Void = {
            try? await Task.sleep(for: $0)
        },
        connecting connect: @escaping Connect = {
            addresses,
            configuration throws(FeedClientError) in
            try await FeedClient.connect(to: addresses, configuration: configuration)
        }
    ) async throws(OfflineError) -> OfflineFeed {
        try OfflineFeed(configuration, wrap, wait, connect)
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
        runningSync?.cancel()
        _ = await runningSync?.value
        store = nil
        board.finish()
    }

    /// Runs work on the file and tells the readers of changes what it has changed.
    ///
    /// Damage that is found now is mended: posts that cannot be read are dropped, and other damage moves
    /// the file aside. Work that names a ``renewalCount`` ends with the damage where that is past.
    private func perform<Result>(
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
    private func performOnOutbox<Result>(
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

    /// Sends the outbox and then brings the copy up to date; a sync that runs is joined.
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
        let task: Task<Result<SyncReport, OfflineError>, Never>
        if let runningSync {
            task = runningSync
        } else {
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
        return try await task.value.get()
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
    private func performAsUser<Result>(
        _ body: (OfflineStore, UInt64) throws(OfflineError) -> Result
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

/// How a sync goes: a connection of its own, the outbox, then the copies.
extension OfflineFeed {
    /// How often a sync connects where its connection is lost.
    private static let maximumAttemptCount = 3
    /// How often it connects where no service of a cluster leads: an election takes a second or two.
    private static let maximumElectionCount = 8

    private func run() async throws(OfflineError) -> SyncReport {
        var report = SyncReport()
        var attempt = 1
        let renewal = renewalCount
        let backoff = Backoff(configuration.client.retry)
        var generator = SystemRandomNumberGenerator()
        while true {
            do throws(OfflineError) {
                try await run(&report, renewal)
                return report
            } catch {
                // A service that starts again takes a moment.
                let isElection = error.isWithoutLeader
                guard attempt < (isElection ? Self.maximumElectionCount : Self.maximumAttemptCount),
                    isElection || error.isLostConnection
                        || attempt > 1 && error.isRefusedConnection
                else { throw error }
                await wait(backoff.delay(round: attempt, using: &generator))
                attempt += 1
            }
        }
    }

    private func run(
        _ report: inout SyncReport,
        _ renewal: Int
    ) async throws(OfflineError) {
        let client = try await connect(renewal)
        do throws(OfflineError) {
            // The modes of votes, before a vote of a BALLOT feed is shown.
            let feeds = try await Self.calling { () throws(FeedClientError) in
                try await client.feeds()
            }
            try perform(in: renewal) { store throws(OfflineError) in try store.keep(feeds) }
            try await flush(client, &report, renewal)
            for feed in configuration.copiedFeeds {
                try await copy(feed, client, &report, renewal)
            }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    /// Connects as the file's device on the file's channel.
    ///
    /// The client has one connection, so that each Hello is noted in the file.
    private func connect(_ renewal: Int) async throws(OfflineError) -> any NumberedCalling {
        let identity = try perform(in: renewal) { store throws(OfflineError) in
            try store.beginGreeting()
        }
        var configuration = configuration.client
        configuration.clientID = identity.clientID
        configuration.channel = identity.channel
        configuration.connectionCount = 1
        configuration.waitsForService = false
        configuration.reconnects = false
        // Only the leader of a cluster knows what became of the file's changes.
        configuration.reads = .leader
        let client: any NumberedCalling
        do {
            client = try await connect(self.configuration.addresses, configuration)
        } catch {
            throw .service(error)
        }
        do throws(OfflineError) {
            guard let hello = client.service, hello.takesSequences else { throw .noSequences }
            try perform(in: renewal) { store throws(OfflineError) in
                // One connection may ask several services, and lose the answer of the first.
                let mayHaveLostOne = self.configuration.addresses.count > 1
                try store.greeted(
                    by: hello,
                    hasLostHello: identity.isGreeting || mayHaveLostOne
                )
            }
        } catch {
            await client.close()
            throw error
        }
        return client
    }

    /// Sends the entries of the one who is connected, until none is left that can be sent.
    private func flush(
        _ client: any NumberedCalling,
        _ report: inout SyncReport,
        _ renewal: Int
    ) async throws(OfflineError) {
        // Not what the session store says: the session may have ended, or another one begun.
        let userID = client.service?.user?.id ?? 0
        var stop: FeedClientError?
        while stop == nil {
            guard !Task.isCancelled else { throw .service(.cancelled(effect: .none)) }
            let next = try performOnOutbox(in: renewal) { file throws(OfflineError) in
                try file.numberNext(of: userID)
            }
            guard !next.isEmpty else { break }
            let results = await client.make(next.map(\.change), timeout: nil)
            var outcomes: [(number: UInt64, outcome: OutboxOutcome)] = []
            for (entry, result) in zip(next, results) {
                let step = FlushStep(result, of: entry.change)
                stop = stop ?? step.stop
                guard let outcome = step.outcome else { continue }
                outcomes.append((entry.number, outcome))
                report.count(outcome)
            }
            let settled = outcomes
            try performOnOutbox(in: renewal) { file throws(OfflineError) in
                try file.settle(settled)
            }
        }
        let entries = try outbox()
        report.inDoubtCount = entries.count { if case .inDoubt = $0.state { true } else { false } }
        let left = entries.filter { $0.state == .waiting || $0.state == .sent }
        report.leftCount = left.count
        report.otherUserCount = left.count { $0.userID != userID }
        // A refusal for now, as of a full disk, does not prevent reading.
        if let stop, !stop.isRefusal { throw .service(stop) }
    }

    /// Follows the chain of a feed to its end.
    private func copy(
        _ feed: String,
        _ client: any NumberedCalling,
        _ report: inout SyncReport,
        _ renewal: Int
    ) async throws(OfflineError) {
        var progress = SyncProgress()
        while true {
            let request = try perform(in: renewal) { store throws(OfflineError) in
                try store.nextRequest(feed)
            }
            let answer = try await Self.calling { () throws(FeedClientError) in
                try await client.syncPosts(request)
            }
            try progress.check(answer, to: request)
            var counted = report
            try perform(in: renewal) { store throws(OfflineError) in
                try store.take(answer, feed: feed, &counted)
            }
            report = counted
            guard answer.hasMore else { return }
        }
    }

    private static func calling<Value>(
        _ call: () async throws(FeedClientError) -> Value
    ) async throws(OfflineError) -> Value {
        do {
            return try await call()
        } catch {
            throw .service(error)
        }
    }
}

extension SyncReport {
    fileprivate mutating func count(_ outcome: OutboxOutcome) {
        switch outcome {
        case .done, .gone: sentCount += 1
        case .failed: failedCount += 1
        case .inDoubt, .notSent: break
        }
    }
}

extension OfflineError {
    /// Whether a connection was lost that had been there.
    fileprivate var isLostConnection: Bool {
        switch self {
        case .service(.connectionLost), .service(.closed): true
        default: false
        }
    }

    /// Whether the service that was asked leads its cluster no more, or none leads.
    fileprivate var isWithoutLeader: Bool {
        if case .service(.refused(let status)) = self { status.isForOthers } else { false }
    }

    /// Whether nobody answered at the address.
    fileprivate var isRefusedConnection: Bool {
        if case .service(.cannotConnect) = self { true } else { false }
    }
}

extension FeedClientError {
    fileprivate var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
