/// What the audit keeps a tally of, and so what the numbers of votes stand for.
package enum Tallied: String, Sendable {
    /// Scores, under votes up: number n is post n.
    case scores
    /// Upvotes and downvotes, each for itself: number 2n is the ups of post n, and the next its downs.
    case directions

    /// Whether the vote of this number is one down.
    @inline(__always)
    func isDown(_ number: UInt32) -> Bool {
        self == .directions && number & 1 == 1
    }

    /// What an answer says of what its vote was counted in.
    @inline(__always)
    func count(_ answer: VoteAnswer, _ number: UInt32) -> Int64 {
        guard self == .directions else { return answer.score }
        return Int64(
            truncatingIfNeeded: number & 1 == 1 ? answer.downvoteCount : answer.upvoteCount
        )
    }
}
