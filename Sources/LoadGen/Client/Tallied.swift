/// What the audit tallies, and so what the numbers of votes stand for.
package enum Tallied: String, Sendable {
    /// Scores, under votes up: number n is post n.
    case scores
    /// Upvotes and downvotes apart: number 2n is the upvotes of post n, and 2n + 1 its downvotes.
    case directions

    /// Whether the vote of this number is a vote down.
    @inline(__always)
    func isDown(_ number: UInt32) -> Bool {
        self == .directions && number & 1 == 1
    }

    /// The value, in an answer, of the count that its vote belongs to.
    @inline(__always)
    func count(_ answer: VoteAnswer, _ number: UInt32) -> Int64 {
        guard self == .directions else { return answer.score }
        return Int64(
            truncatingIfNeeded: number & 1 == 1 ? answer.downvoteCount : answer.upvoteCount
        )
    }
}
