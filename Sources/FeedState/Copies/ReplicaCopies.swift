internal import FeedConcurrency
package import FeedReplica

/// The copies of the state that a leader's replica sends to other nodes: all that are under way read one
/// file, `state.db`, which is frozen meanwhile.
///
/// `feed-journal` passes on what the replica asks for, and says what is answered. The checkpoint thread
/// freezes the file once all that a copy needs is checkpointed, and thaws it when nobody reads it any more.
/// A request that the frozen file does not serve waits for the next one, and so does a backup: the replica
/// asks again by itself only after a refusal, and then at once.
package final class ReplicaCopies: Sendable {
    private struct State {
        /// The requests that wait for a file, each with the least record that it is to have.
        var waiting: [UInt64: UInt64] = [:]
        /// The requests whose file is read.
        var reading: Set<UInt64> = []
        /// How long SQLite's log may get meanwhile.
        var longestLogByteCount = 0
        /// What is to be said of them.
        var words: [ServiceWord] = []
        /// Wakes the checkpoint thread.
        var changed: @Sendable () -> Void = {}
    }

    private let state = Lock(State())
    private let options: BackupOptions
    private let wakeNode: @Sendable () -> Void

    /// Copies that end where SQLite's log gets too long; `wakeNode` is called when there is something to say.
    package init(_ options: BackupOptions, wakeNode: @escaping @Sendable () -> Void) {
        self.options = options
        self.wakeNode = wakeNode
    }
}

/// The part of `feed-journal`.
extension ReplicaCopies {
    /// The replica asks for a state of some record, at least.
    package func ask(_ request: UInt64, least: UInt64) {
        let changed = state.withLock { state in
            state.waiting[request] = least
            return state.changed
        }
        changed()
    }

    /// The replica does not need the file of a request any more.
    package func end(_ request: UInt64) {
        let changed = state.withLock { state in
            state.waiting[request] = nil
            state.reading.remove(request)
            return state.changed
        }
        changed()
    }

    /// The session has ended, and all of its requests with it.
    package func endAll() {
        let changed = state.withLock { state in
            state = State(changed: state.changed)
            return state.changed
        }
        changed()
    }

    /// What is to be said now; each word is given once.
    package func takeWords() -> [ServiceWord] {
        state.withLock { state in
            defer { state.words = [] }
            return state.words
        }
    }
}

/// The part of the checkpoint thread.
extension ReplicaCopies {
    /// Calls `body` when there is something to do.
    func onChange(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.changed = body }
    }

    /// The record up to which all have to be checkpointed for the requests that wait; nil where none does.
    package var wantedRecord: UInt64? { state.withLock { $0.waiting.values.max() } }

    package var isReading: Bool { state.withLock { !$0.reading.isEmpty } }

    /// The file is frozen at a record: those that need no later one read it now.
    ///
    /// What is free when the first one begins says how long SQLite's log may get until none reads.
    package func give(_ path: String, at record: UInt64, freeByteCount: Int) {
        let isAnswered = state.withLock { state in
            let served = state.waiting.filter { $0.value <= record }.keys.sorted()
            if state.reading.isEmpty {
                let share = Int(Double(freeByteCount) * options.copyLogShare)
                state.longestLogByteCount = max(options.maximumLogByteCount, share)
            }
            for request in served {
                state.waiting[request] = nil
                state.reading.insert(request)
                state.words.append(.copy(request: request, index: record, path: path))
            }
            return !served.isEmpty
        }
        if isAnswered { wakeNode() }
    }

    /// No file can be made: those that wait are refused.
    package func refuse(_ why: String) {
        let isAnswered = state.withLock { state in
            let refused = state.waiting.keys.sorted()
            state.waiting = [:]
            state.words += refused.map { .noCopy(request: $0, why: why) }
            return !refused.isEmpty
        }
        if isAnswered { wakeNode() }
    }

    /// Takes the file back from all that read it, where SQLite's log has got too long.
    package func observe(logByteCount: Int) {
        let isAnswered = state.withLock { state in
            guard logByteCount > state.longestLogByteCount else { return false }
            let why = """
                The copy was cancelled: while it was sent, \(logByteCount) bytes of changes had to wait \
                beside state.db, and the limit is \(state.longestLogByteCount) bytes.
                """
            let cancelled = state.reading.sorted()
            state.reading = []
            state.words += cancelled.map { .noCopy(request: $0, why: why) }
            return !cancelled.isEmpty
        }
        if isAnswered { wakeNode() }
    }
}
