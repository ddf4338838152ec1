package import FeedClient

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
    private nonisolated let board = ChangeBoard()
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
