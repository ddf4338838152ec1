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
}
