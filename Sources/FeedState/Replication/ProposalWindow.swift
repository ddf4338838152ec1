internal import Synchronization

/// The commit batches that a leader has proposed and that are not committed, in their order.
struct ProposalWindow {
    /// How many there are at most.
    static let maximumCount = 4
    /// From how many bytes on there is only one.
    static let maximumByteCount = 8 << 20
    /// How long after a refusal the same batches are proposed again.
    static let retryInterval = Duration.milliseconds(10)

    struct Proposal {
        let index: UInt64
        let body: [UInt8]
        let entryCount: Int
        /// The level of its head.
        let level: UInt32
        /// The time of its head.
        let microseconds: UInt64
        let began: ContinuousClock.Instant
        /// When the commit batch got its first log entry (``CommitProgress/openTime``).
        let openTime: UInt64
        /// The reads of all rounds up to this one were executed before it was proposed.
        let provenRound: UInt64
        var isRefused = false
    }

    private(set) var proposals: [Proposal] = []
    private(set) var byteCount = 0
    private var lastRefusal: ContinuousClock.Instant?

    var isEmpty: Bool { proposals.isEmpty }

    /// Whether another batch with about so many bytes may be proposed.
    func hasRoom(for waitingByteCount: Int) -> Bool {
        proposals.isEmpty
            || proposals.count < Self.maximumCount
                && byteCount + waitingByteCount <= Self.maximumByteCount
    }

    mutating func append(_ proposal: Proposal) {
        precondition(
            proposals.last.map { $0.index + 1 == proposal.index } ?? true,
            "Batches are proposed in their order."
        )
        proposals.append(proposal)
        byteCount += proposal.body.count
    }

    /// Takes out the oldest proposal, if it is up to an index; O(proposals).
    mutating func removeFirst(through index: UInt64) -> Proposal? {
        guard let first = proposals.first, first.index <= index else { return nil }
        byteCount -= first.body.count
        return proposals.removeFirst()
    }

    /// Notes that a proposal was refused; false where there is none of this index.
    mutating func refuse(_ index: UInt64, at now: ContinuousClock.Instant) -> Bool {
        guard let place = proposals.firstIndex(where: { $0.index == index }) else { return false }
        proposals[place].isRefused = true
        lastRefusal = now
        return true
    }

    var hasRefusals: Bool { proposals.contains(where: \.isRefused) }

    /// When those that were refused are proposed again; nil while a refusal is still to come.
    ///
    /// Behind a batch that was refused all are, as their indexes do not follow. If they were proposed again
    /// before these refusals have come, those would be taken for refusals of the second proposals.
    var retryTime: ContinuousClock.Instant? {
        guard let first = proposals.firstIndex(where: \.isRefused),
            proposals[first...].allSatisfy(\.isRefused), let lastRefusal
        else { return nil }
        return lastRefusal + Self.retryInterval
    }

    /// The proposals that are proposed again, now.
    mutating func retry() -> ArraySlice<Proposal> {
        guard let first = proposals.firstIndex(where: \.isRefused) else { return [] }
        for place in first..<proposals.count { proposals[place].isRefused = false }
        return proposals[first...]
    }
}

/// The rounds by which reads are proven.
///
/// A read that was executed while a round was open, and that asked for it, is proven once the replica has
/// answered a question that was put after the round was closed. A word holds the open round, and in its
/// lowest bit whether anyone has asked for it.
package final class ProofRounds: Sendable {
    private let state = Atomic<UInt64>(1 << 1)

    package init() {}

    /// Asks for the open round; says whether nobody has before.
    ///
    /// Ordered behind all that the caller has read before.
    package func ask() -> (round: UInt64, isFirst: Bool) {
        let old = state.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
        return (old >> 1, old & 1 == 0)
    }

    /// Whether anyone has asked for the open round.
    package var isAsked: Bool { state.load(ordering: .relaxed) & 1 == 1 }

    /// The last round that was closed; 0 where none was.
    package var lastClosed: UInt64 { (state.load(ordering: .relaxed) >> 1) - 1 }

    /// Closes the open round and gives it; for one thread.
    package func close() -> UInt64 {
        let open = state.load(ordering: .relaxed) >> 1
        _ = state.exchange((open + 1) << 1, ordering: .acquiringAndReleasing)
        return open
    }
}
