/// The votes and pages that the threads of a run request.
struct Workload: Sendable {
    /// The post of each number of a vote.
    let postIDs: [UInt64]
    /// How requests are spread over the posts.
    let keys: KeyChoice
    /// The votes to cast on each number, upvotes and downvotes alternately; nil where they are
    /// drawn.
    var planned: [UInt64]?

    /// What the numbers of votes stand for.
    var tallied: Tallied { planned == nil ? .scores : .directions }

    /// The planned votes of one thread; nil where votes are drawn.
    func schedule(thread: Int, of threadCount: Int, seed: UInt64) -> VoteSchedule? {
        planned.map {
            VoteSchedule($0, thread: thread, threadCount: threadCount, seed: seed)
        }
    }
}

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
