/// What a run knows about one of its posts when nothing is in flight any more.
package struct PostAccount: Sendable, Equatable {
    /// The post.
    package var id: UInt64
    /// Its score before the first vote.
    package var scoreBefore: Int64 = 0
    /// The acknowledged votes and their scores.
    package var tally = VoteTally()
    /// Votes answered with an error: none of them may count.
    package var errorCount: UInt64 = 0
    /// Votes without an answer: each may count or not.
    package var unknownCount: UInt64 = 0

    /// A post without votes.
    package init(id: UInt64) { self.id = id }
}

/// Compares the scores of posts with the votes on them, one post at a time.
package struct VoteAudit: Sendable, Equatable {
    /// The violations so far.
    package private(set) var findings = Findings()
    /// Posts whose score is exactly what the acknowledged votes make it.
    package private(set) var exactPostCount: UInt64 = 0
    /// Votes that the service counted, over all posts.
    package private(set) var countedVoteCount: Int64 = 0

    /// Nothing compared.
    package init() {}

    /// Checks one post, whose score is `score` now.
    ///
    /// With A acknowledged, U unknown and E failed votes
    /// the score rose by A … A + U; where U is 0, the scores in the answers must be the numbers from
    /// the first to the last, each once, which their sum and their sum of squares show.
    package mutating func check(_ post: PostAccount, score: Int64?) {
        guard let score else {
            findings.note(.missingPost, "Post \(post.id) cannot be read any more.")
            return
        }
        let counted = score &- post.scoreBefore
        countedVoteCount += counted
        let acknowledged = Int64(post.tally.acknowledged)
        let possible = acknowledged + Int64(post.unknownCount)
        if counted < acknowledged {
            findings.note(
                .lostVote,
                count: UInt64(acknowledged - counted),
                "Post \(post.id): \(acknowledged) votes acknowledged, \(counted) counted."
            )
        } else if counted > possible {
            let isError = counted <= possible + Int64(post.errorCount)
            findings.note(
                isError ? .countedError : .extraVote,
                count: UInt64(counted - possible),
                """
                Post \(post.id): \(acknowledged) votes acknowledged, \(post.unknownCount) unknown, \
                \(post.errorCount) failed, \(counted) counted.
                """
            )
        } else {
            if counted == acknowledged { exactPostCount += 1 }
            checkSequence(post)
        }
    }

    private mutating func checkSequence(_ post: PostAccount) {
        guard post.unknownCount == 0 else { return }
        let count = post.tally.acknowledged
        guard post.tally != VoteTally.complete(count: count, after: post.scoreBefore) else {
            return
        }
        findings.note(
            .brokenSequence,
            "Post \(post.id): the scores of its \(count) answers are not the next \(count) numbers."
        )
    }
}
