internal import FeedConcurrency
internal import FeedRanking

/// The moment of the votes that a loop casts, which gives them their weight in RISING.
///
/// It is renewed in the first loop iteration after each millisecond, so that a vote neither reads a
/// clock nor computes a power.
struct VoteMoment {
    private static let nanoseconds: UInt64 = 1_000_000

    /// The weight of a vote now.
    private(set) var weight = VoteWeight(milliseconds: 0)
    private var end: UInt64 = 0

    /// Begins a new moment if the last one is over.
    @inline(__always)
    mutating func renew(at now: MonotonicInstant, _ store: FeedStore) {
        guard now.nanoseconds >= end else { return }
        end = now.nanoseconds &+ Self.nanoseconds
        weight = store.voteWeight()
    }
}
