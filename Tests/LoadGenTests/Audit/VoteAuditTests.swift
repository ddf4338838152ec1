import LoadGen
import Testing

@Suite struct VoteAuditTests {
    /// A post whose votes were answered with these scores.
    private func account(
        before: Int64 = 0,
        scores: [Int64],
        errors: UInt64 = 0,
        unknown: UInt64 = 0
    ) -> PostAccount {
        var account = PostAccount(id: 7)
        account.scoreBefore = before
        for score in scores { account.tally.acknowledge(score: score) }
        account.errorCount = errors
        account.unknownCount = unknown
        return account
    }

    private func counts(_ account: PostAccount, score: Int64?) -> [Violation: UInt64] {
        var audit = VoteAudit()
        audit.check(account, score: score)
        return audit.findings.counts
    }

    @Test(arguments: [0, 5, -3, 1 << 40] as [Int64])
    func passesWhatCountedOnce(_ before: Int64) {
        let scores = (1...100).map { before + $0 }
        #expect(counts(account(before: before, scores: scores), score: before + 100).isEmpty)
        #expect(
            counts(account(before: before, scores: scores.shuffled()), score: before + 100).isEmpty
        )
    }

    @Test func passesAPostWithoutVotes() {
        #expect(counts(account(scores: []), score: 0).isEmpty)
    }

    @Test func seesALostVote() {
        #expect(counts(account(scores: [1, 2, 3]), score: 2) == [.lostVote: 1])
    }

    @Test(arguments: [Int64.min, .max])
    func takesAnyScoreThatAServiceSends(_ score: Int64) {
        #expect(!counts(account(scores: [1, 2, 3]), score: score).isEmpty)
    }

    /// The differences of two such posts add up to more than a number holds.
    @Test(arguments: [(Int64.min, Violation.lostVote), (.max, .extraVote)])
    func countsDifferencesBeyondEveryNumber(_ score: Int64, _ violation: Violation) {
        var audit = VoteAudit()
        for _ in 0..<3 { audit.check(account(scores: [1, 2, 3]), score: score) }
        var sum = audit.findings
        sum.add(audit.findings)
        #expect(audit.findings.counts[violation] == .max)
        #expect(sum.counts[violation] == .max)
    }

    @Test func seesAVoteThatCountedTwice() {
        #expect(counts(account(scores: [1, 2, 3]), score: 5) == [.extraVote: 2])
    }

    @Test func seesAnErrorThatCounted() {
        #expect(counts(account(scores: [1, 2], errors: 2), score: 3) == [.countedError: 1])
        #expect(counts(account(scores: [1, 2], errors: 2), score: 2).isEmpty)
    }

    @Test func letsUnknownVotesCountOrNot() {
        for score in 2...4 as ClosedRange<Int64> {
            #expect(counts(account(scores: [1, 2], unknown: 2), score: score).isEmpty)
        }
        #expect(counts(account(scores: [1, 2], unknown: 2), score: 1) == [.lostVote: 1])
        #expect(counts(account(scores: [1, 2], unknown: 2), score: 5) == [.extraVote: 1])
    }

    @Test(arguments: [[1, 2, 2], [1, 3, 3], [0, 1, 2], [2, 3, 4], [1, 1, 4]] as [[Int64]])
    func seesADuplicateOrMissingScore(_ scores: [Int64]) {
        #expect(counts(account(scores: scores), score: 3) == [.brokenSequence: 1])
    }

    @Test(arguments: [2, 3, 4] as [UInt64])
    func seesCountsThatAreNotThoseOfTheFile(_ planned: UInt64) {
        let found: [Violation: UInt64] = planned == 3 ? [:] : [.notAsPlanned: 1]
        var account = account(scores: [1, 2, 3])
        account.planned = planned
        var audit = VoteAudit()
        #expect(audit.check(account, score: 3) == found.isEmpty)
        #expect(audit.findings.counts == found)
    }

    @Test func seesAPostThatIsGone() {
        #expect(counts(account(scores: [1]), score: nil) == [.missingPost: 1])
    }

    @Test func countsExactPosts() {
        var audit = VoteAudit()
        audit.check(account(scores: [1, 2]), score: 2)
        audit.check(account(scores: [1], unknown: 1), score: 2)
        #expect(audit.exactPostCount == 1)
        #expect(audit.countedVoteCount == 4)
    }

    @Test func sumsOfThreadsAddUp() {
        var one = VoteTally()
        var other = VoteTally()
        for score in 1...50 as ClosedRange<Int64> { one.acknowledge(score: score) }
        for score in 51...90 as ClosedRange<Int64> { other.acknowledge(score: score) }
        one.add(other)
        #expect(one == VoteTally.complete(count: 90, after: 0))
    }

    /// The number of votes and the sum of their scores share a word.
    @Test func noScoreChangesTheNumberOfVotes() {
        var random = RandomStream(seed: 4, thread: 0, client: 0)
        let some: [Int64] = [0, -1, 1, .min, .max, 1 << 20 - 1, 1 << 20, 1 << 44]
        let scores = some + (0..<1000).map { _ in Int64(truncatingIfNeeded: random.next()) }
        var tally = VoteTally()
        for (number, score) in scores.enumerated() {
            tally.acknowledge(score: score)
            let values = scores[...number].map { UInt64(bitPattern: $0) }
            #expect(tally.acknowledged == UInt64(number + 1))
            #expect(tally.scoreSum == values.reduce(0, &+) % (1 << 20))
            #expect(tally.squareSum == values.reduce(0) { $0 &+ $1 &* $1 })
        }
        let most = VoteTally(acknowledged: VoteTally.mostVotes, scoreSum: 3, squareSum: 9)
        #expect(most.acknowledged == VoteTally.mostVotes)
        #expect(most.scoreSum == 3)
    }

    @Test func closedFormsHoldForCountsBeyondHalfAWord() {
        let count: UInt64 = 5_000_000_000
        let before = VoteTally.complete(count: count, after: 3)
        var next = before
        next.acknowledge(score: Int64(count) + 4)
        #expect(next == VoteTally.complete(count: count + 1, after: 3))
    }

    @Test func scoresOfAConnectionMustRise() {
        let memory = ScoreMemory(clientCount: 2)
        let answers: [(client: Int, post: UInt32, score: Int64, rises: Bool)] = [
            (0, 1, 5, true), (0, 1, 6, true), (0, 1, 6, false), (0, 1, 4, false), (0, 1, 9, true),
            (1, 1, 2, true), (0, 17, 1, true), (0, 1, 3, true),
        ]
        for answer in answers {
            let rises = memory.rises(client: answer.client, post: answer.post, score: answer.score)
            #expect(rises == answer.rises, "\(answer)")
        }
    }
}
