/// What one thread knows about the votes on one post.
package struct VoteTally: Sendable, Equatable {
    /// Votes answered with success.
    package var acknowledged: UInt64 = 0
    /// The sum of the scores in those answers, modulo 2^64.
    package var scoreSum: UInt64 = 0
    /// The sum of their squares, modulo 2^64.
    package var squareSum: UInt64 = 0

    /// No vote.
    package init() {}

    /// Counts a vote that was answered with `score`.
    @inline(__always)
    package mutating func acknowledge(score: Int64) {
        let value = UInt64(bitPattern: score)
        acknowledged &+= 1
        scoreSum &+= value
        squareSum &+= value &* value
    }

    /// Adds what another thread knows.
    package mutating func add(_ other: VoteTally) {
        acknowledged += other.acknowledged
        scoreSum &+= other.scoreSum
        squareSum &+= other.squareSum
    }

    /// What the sums must be if the answers showed `before` + 1 … `before` + `count`, each once:
    /// the closed forms of Σ(b + k) and Σ(b + k)², modulo 2^64.
    package static func complete(count: UInt64, after before: Int64) -> VoteTally {
        let votes = UInt128(count)
        let base = UInt64(bitPattern: before)
        let indexSum = UInt64(truncatingIfNeeded: votes * (votes + 1) / 2)
        let indexSquareSum = UInt64(truncatingIfNeeded: votes * (votes + 1) * (2 * votes + 1) / 6)
        var tally = VoteTally()
        tally.acknowledged = count
        tally.scoreSum = count &* base &+ indexSum
        tally.squareSum = count &* base &* base &+ 2 &* base &* indexSum &+ indexSquareSum
        return tally
    }
}
