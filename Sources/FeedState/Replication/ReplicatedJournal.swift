package import FeedConcurrency
internal import Synchronization

/// Commits for a node of a cluster: gives what the loops have logged to the replica, and the journal what
/// a majority has.
package final class ReplicatedJournal: CommitThread {
    package let progress: CommitProgress
    private let rounds = ProofRounds()
    private let thread = NamedThread("feed-journal", priority: .batch)

    /// A thread that is ready to be started.
    package init(_ parts: CommitParts, _ options: ReplicaOptions, _ events: ReplicaEvents) {
        progress = CommitProgress(
            of: parts.logs,
            parts.receiver,
            maximumWaitingByteCount: parts.maximumWaitingByteCount
        )
    }

    package func wake() {
        progress.noteFirstEntry()
        thread.wake()
    }

    package func start() throws(ThreadStartError) {}

    package func stop() {}

    /// The round that proves that this node led when a read was executed that is over now; asks for it.
    ///
    /// O(1), one atomic operation, for any thread of a node that leads.
    package func askForProof() -> UInt64 {
        let (round, isFirst) = rounds.ask()
        if isFirst { thread.wake() }
        return round
    }
}

/// The rounds by which reads are proven: those that were executed while a round was open, and that asked
/// for it, are proven once the replica has answered a question that was put after the round was closed.
///
/// A word holds the open round, and in its lowest bit whether anyone has asked for it.
package final class ProofRounds: Sendable {
    private let state = Atomic<UInt64>(1 << 1)

    package init() {}

    /// Asks for the open round; says whether nobody has before.
    ///
    /// Ordered after all that the caller has read before.
    package func ask() -> (round: UInt64, isFirst: Bool) {
        let old = state.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
        return (old >> 1, old & 1 == 0)
    }

    /// Whether anyone has asked for the open round.
    package var isAsked: Bool { state.load(ordering: .relaxed) & 1 == 1 }

    /// Closes the open round and gives it; for one thread.
    package func close() -> UInt64 {
        let open = state.load(ordering: .relaxed) >> 1
        let old = state.exchange((open + 1) << 1, ordering: .acquiringAndReleasing)
        return old >> 1
    }
}
