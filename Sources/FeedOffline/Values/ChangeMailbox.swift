import FeedConcurrency

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

/// The readers of changes.
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
