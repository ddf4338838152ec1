import FeedConcurrency
public import FeedProto

/// What has changed in an offline feed since the change before.
///
/// A reader that is slow gets several changes as one. Its memory is bounded: beyond
/// ``maximumPostCount`` posts ``isEverything`` says to read all lists again.
public struct OfflineChange: Sendable, Equatable {
    /// The most posts that a change names.
    public static var maximumPostCount: Int { 1_000 }

    /// Posts that are new or have other contents, counts or marks.
    public private(set) var changedPosts: Set<PostID> = []
    /// Posts that are in no list any more.
    public private(set) var removedPosts: Set<PostID> = []
    /// Posts that were made here and have got their id: the local id, and the service's.
    public private(set) var sentPosts: [PostID: PostID] = [:]
    /// Whether entries of the outbox came, went or have another state.
    public internal(set) var hasOutboxChanged = false
    /// Whether more has changed than is named: read all lists again.
    public internal(set) var isEverything = false
    /// What to tell the person about the file; nil where nothing happened.
    public internal(set) var notice: OfflineNotice?

    var isEmpty: Bool { self == OfflineChange() }

    init() {}

    mutating func change(_ id: PostID) {
        removedPosts.remove(id)
        changedPosts.insert(id)
        bound()
    }

    mutating func remove(_ id: PostID) {
        changedPosts.remove(id)
        removedPosts.insert(id)
        bound()
    }

    mutating func replace(_ localID: PostID, by id: PostID) {
        changedPosts.remove(localID)
        sentPosts[localID] = id
        change(id)
    }

    mutating func merge(_ later: OfflineChange) {
        for (local, id) in later.sentPosts { replace(local, by: id) }
        for id in later.changedPosts { change(id) }
        for id in later.removedPosts { remove(id) }
        hasOutboxChanged = hasOutboxChanged || later.hasOutboxChanged
        isEverything = isEverything || later.isEverything
        notice = later.notice ?? notice
        bound()
    }

    private mutating func bound() {
        guard
            isEverything
                || changedPosts.count + removedPosts.count + sentPosts.count > Self.maximumPostCount
        else { return }
        isEverything = true
        changedPosts = []
        removedPosts = []
        sentPosts = [:]
    }
}

/// What one reader of changes has not read yet.
final class ChangeMailbox: Sendable {
    private let pending = Lock(OfflineChange())
    private let signal: AsyncStream<Void>.Continuation
    /// Has an element at most, which says that something is pending.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func add(_ change: OfflineChange) {
        pending.withLock { $0.merge(change) }
        signal.yield()
    }

    func take() -> OfflineChange {
        pending.withLock { pending in
            defer { pending = OfflineChange() }
            return pending
        }
    }

    /// Wakes the reader without a change.
    func wake() { signal.yield() }

    func finish() { signal.finish() }
}

/// The changes of an offline feed as they happen; each iterator gets those from its making on.
///
/// Changes that nobody has read yet are merged into one.
public struct OfflineChanges: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = OfflineChange
    /// It ends with the feed, without an error.
    public typealias Failure = Never

    let board: ChangeBoard

    /// Begins to listen.
    public func makeAsyncIterator() -> Iterator { Iterator(board) }

    /// A listener.
    public struct Iterator: AsyncIteratorProtocol {
        private let mailbox: ChangeMailbox
        private var signals: AsyncStream<Void>.Iterator
        private let registration: ChangeBoard.Registration

        fileprivate init(_ board: ChangeBoard) {
            mailbox = ChangeMailbox()
            signals = mailbox.signals.makeAsyncIterator()
            registration = board.register(mailbox)
        }

        /// The next change; nil once the feed is closed, or the task is cancelled.
        public mutating func next() async -> OfflineChange? {
            while await signals.next() != nil {
                let change = mailbox.take()
                if !change.isEmpty { return change }
            }
            return nil
        }
    }
}

final class ChangeBoard: Sendable {
    private struct State {
        var mailboxes: [ObjectIdentifier: ChangeMailbox] = [:]
        var hasEnded = false
    }

    private let state = Lock(State())

    init() {}

    /// Ends a reader's part with the reader.
    final class Registration: Sendable {
        private let board: ChangeBoard
        private let mailbox: ChangeMailbox

        init(_ board: ChangeBoard, _ mailbox: ChangeMailbox) {
            self.board = board
            self.mailbox = mailbox
        }

        deinit { board.remove(mailbox) }
    }

    func register(_ mailbox: ChangeMailbox) -> Registration {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.mailboxes[ObjectIdentifier(mailbox)] = mailbox }
            return state.hasEnded
        }
        if hasEnded { mailbox.finish() }
        return Registration(self, mailbox)
    }

    func post(_ change: OfflineChange) {
        guard !change.isEmpty else { return }
        let mailboxes = state.withLock { Array($0.mailboxes.values) }
        for mailbox in mailboxes { mailbox.add(change) }
    }

    /// Wakes the readers without a change.
    func wake() {
        for mailbox in state.withLock({ Array($0.mailboxes.values) }) { mailbox.wake() }
    }

    func finish() {
        let mailboxes = state.withLock { state in
            state.hasEnded = true
            defer { state.mailboxes = [:] }
            return Array(state.mailboxes.values)
        }
        for mailbox in mailboxes { mailbox.finish() }
    }

    private func remove(_ mailbox: ChangeMailbox) {
        state.withLock { $0.mailboxes[ObjectIdentifier(mailbox)] = nil }
    }
}
