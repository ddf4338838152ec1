/// What a run knows about one number of one of its posts once nothing is in flight: the post's
/// score, or its votes up or down.
package struct PostAccount: Sendable, Equatable {
    package var id: UInt64
    package var number = Number.score
    /// The value that the number must reach in the end; nil where that is open.
    package var planned: UInt64?
    /// The score before the first vote.
    package var scoreBefore: Int64 = 0
    package var tally = VoteTally()
    /// Votes answered with an error: none of them may count.
    package var errorCount: UInt64 = 0
    /// Votes without an answer: each may count or not.
    package var unknownCount: UInt64 = 0

    /// Acknowledged votes that an earlier send may have executed, so that the answer had a later
    /// score.
    package var repeatedCount: UInt64 = 0

    package init(id: UInt64) { self.id = id }

    package enum Number: String, Sendable {
        /// The score, in a run with votes up only.
        case score = "votes"
        case upvotes = "upvotes"
        case downvotes = "downvotes"
        /// The ballots up that stand, each the last one of its voter.
        case ballotsUp = "ballots up"
        /// The ballots down that stand.
        case ballotsDown = "ballots down"

        /// Whether each vote adds to the number; a ballot replaces one.
        var isRising: Bool { self != .ballotsUp && self != .ballotsDown }
    }
}

/// Compares the scores of posts with the votes on them, one post at a time.
package struct VoteAudit: Sendable, Equatable {
    package private(set) var findings = Findings()
    /// Posts whose score equals what their acknowledged votes add up to.
    package private(set) var exactPostCount: UInt64 = 0
    package private(set) var countedVoteCount: Int64 = 0

    package init() {}

    /// Checks one post, whose score is `score` now; returns whether it is exact.
    ///
    /// With A acknowledged, U unknown and E failed votes the score rises by A … A + U, however
    /// often a vote was sent. Where U is 0 and no vote was sent twice, the scores in the answers
    /// must be the numbers from the first to the last, each once. Their sum and their sum of
    /// squares show that.
    @discardableResult
    package mutating func check(_ post: PostAccount, score: Int64?) -> Bool {
        guard let score else {
            findings.note(.missingPost, "Post \(post.id) cannot be read any more.")
            return false
        }
        let counted = score &- post.scoreBefore
        countedVoteCount &+= counted
        let acknowledged = Int64(post.tally.acknowledged)
        let name = post.number.rawValue
        let possible = acknowledged + Int64(post.unknownCount)
        if counted < acknowledged {
            findings.note(
                .lostVote,
                count: UInt64(bitPattern: acknowledged &- counted),
                "Post \(post.id): \(acknowledged) \(name) acknowledged, \(counted) counted."
            )
        } else if counted > possible {
            let isError = counted <= possible + Int64(post.errorCount)
            findings.note(
                isError ? .countedError : .extraVote,
                count: UInt64(bitPattern: counted &- possible),
                """
                Post \(post.id): \(acknowledged) \(name) acknowledged, \(post.unknownCount) unknown, \
                \(post.errorCount) failed, \(counted) counted.
                """
            )
        } else {
            if counted == acknowledged { exactPostCount += 1 }
            checkSequence(post)
        }
        let isAsPlanned = checkPlan(post, counted)
        return counted == acknowledged && isAsPlanned
    }

    private mutating func checkPlan(_ post: PostAccount, _ counted: Int64) -> Bool {
        guard let planned = post.planned, UInt64(bitPattern: counted) != planned else {
            return true
        }
        findings.note(
            .notAsPlanned,
            "Post \(post.id): the file has \(planned) \(post.number.rawValue), \(counted) counted."
        )
        return false
    }

    private mutating func checkSequence(_ post: PostAccount) {
        guard post.number.isRising, post.unknownCount == 0, post.repeatedCount == 0 else { return }
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

/// What one thread knows about the votes on one post, in 16 bytes: where posts are many, each tally is
/// a cache miss, and four share a cache line.
package struct VoteTally: Sendable, Equatable {
    /// The votes in the low bits, and above them the sum of their scores.
    private var votesAndScores: UInt64
    /// The sum of the squares of the scores in the answers, modulo 2^64.
    package private(set) var squareSum: UInt64

    /// What is known of `acknowledged` votes; of the sum of their scores the low 20 bits.
    package init(acknowledged: UInt64 = 0, scoreSum: UInt64 = 0, squareSum: UInt64 = 0) {
        precondition(acknowledged <= Self.mostVotes, "A tally has \(Self.mostVotes) votes at most.")
        votesAndScores = acknowledged | scoreSum << Self.voteBitCount
        self.squareSum = squareSum
    }

    /// The most votes of a tally: those of 20 days, at ten million a second.
    package static var mostVotes: UInt64 { 1 << voteBitCount - 1 }

    package var acknowledged: UInt64 { votesAndScores & Self.mostVotes }
    /// The sum of the scores in those answers, modulo 2^20.
    package var scoreSum: UInt64 { votesAndScores >> Self.voteBitCount }

    @inline(__always)
    package mutating func acknowledge(score: Int64) {
        let value = UInt64(bitPattern: score)
        votesAndScores &+= 1 &+ value << Self.voteBitCount
        squareSum &+= value &* value
    }

    /// Adds what another thread knows.
    package mutating func add(_ other: VoteTally) {
        precondition(
            acknowledged + other.acknowledged <= Self.mostVotes,
            "A tally has \(Self.mostVotes) votes at most."
        )
        votesAndScores &+= other.votesAndScores
        squareSum &+= other.squareSum
    }

    /// What the sums must be if the answers showed `before` + 1 … `before` + `count`, each once:
    /// the closed forms of Σ(b + k) and Σ(b + k)².
    package static func complete(count: UInt64, after before: Int64) -> VoteTally {
        let votes = UInt128(count)
        let base = UInt64(bitPattern: before)
        let indexSum = UInt64(truncatingIfNeeded: votes * (votes + 1) / 2)
        let indexSquareSum = UInt64(truncatingIfNeeded: votes * (votes + 1) * (2 * votes + 1) / 6)
        return VoteTally(
            acknowledged: count,
            scoreSum: count &* base &+ indexSum,
            squareSum: count &* base &* base &+ 2 &* base &* indexSum &+ indexSquareSum
        )
    }

    private static var voteBitCount: UInt64 { 44 }
}

/// What all threads of a run know about its posts, merged for the audit.
struct AuditKnowledge: Sendable {
    private(set) var accounts: [PostAccount]
    /// Posts that acknowledged requests created.
    private(set) var createdIDs: Set<UInt64> = []
    /// Titles of posts that requests without an answer may have created.
    private(set) var unknownTitles: Set<String> = []
    /// Contradictions found during the load.
    private(set) var findings = Findings()

    /// Knows the posts, and the votes that each account is to get if they are planned.
    init(
        postIDs: [UInt64],
        _ tallied: Tallied = .scores,
        planned: [UInt64] = [],
        unknownTitles: Set<String> = []
    ) {
        let count = postIDs.count * (tallied.isSplit ? 2 : 1)
        accounts = tallied.accounts(postIDs, [VoteTally](repeating: VoteTally(), count: count))
        for (number, votes) in planned.enumerated() { accounts[number].planned = votes }
        self.unknownTitles = unknownTitles
    }

    init(accounts: [PostAccount], createdIDs: Set<UInt64>, unknownTitles: Set<String>) {
        self.accounts = accounts
        self.createdIDs = createdIDs
        self.unknownTitles = unknownTitles
    }

    /// Drops the plan: a run that was stopped did not complete it.
    mutating func dropPlan() {
        for index in accounts.indices { accounts[index].planned = nil }
    }

    /// Adds what one thread knows: the tally of each number of a vote, and what is rare.
    mutating func add(_ tallies: [VoteTally], _ counts: AuditCounts) {
        for (index, tally) in tallies.enumerated() { accounts[index].tally.add(tally) }
        for (post, count) in counts.failedVotes { accounts[Int(post)].errorCount += count }
        for (post, count) in counts.unknownVotes { accounts[Int(post)].unknownCount += count }
        for (post, count) in counts.repeatedVotes { accounts[Int(post)].repeatedCount += count }
        for id in counts.createdIDs where !createdIDs.insert(id).inserted {
            findings.note(.listedTwice, "Two creates were answered with post \(id).")
        }
        unknownTitles.formUnion(counts.unknownTitles)
        findings.add(counts.findings)
    }

    /// The part of the summary that needs no answer from the service.
    var summary: AuditSummary {
        var summary = AuditSummary()
        summary.postCount = UInt64(accounts.count)
        summary.createdPostCount = UInt64(createdIDs.count)
        for account in accounts {
            summary.acknowledgedVoteCount =
                summary.acknowledgedVoteCount.addingClamped(account.tally.acknowledged)
            summary.unknownVoteCount = summary.unknownVoteCount.addingClamped(account.unknownCount)
            summary.failedVoteCount = summary.failedVoteCount.addingClamped(account.errorCount)
        }
        summary.findings = findings
        return summary
    }
}

/// What a thread of the load knows for the audit beside the tallies; all of it is rare.
struct AuditCounts: Sendable {
    /// Votes answered with an error, by the number of the post.
    private(set) var failedVotes: [UInt32: UInt64] = [:]
    /// Votes without an answer, by the number of the post.
    private(set) var unknownVotes: [UInt32: UInt64] = [:]
    /// Acknowledged votes that an earlier send may have executed, by the number of the post.
    private(set) var repeatedVotes: [UInt32: UInt64] = [:]
    /// Posts that acknowledged requests created.
    private(set) var createdIDs: [UInt64] = []
    /// Titles of posts that requests without an answer may have created.
    private(set) var unknownTitles: Set<String> = []
    /// Contradictions found during the load.
    var findings = Findings()

    mutating func fail(vote: UInt32) {
        failedVotes[vote, default: 0] += 1
    }

    /// Records that `count` votes of a number get no answer.
    mutating func forget(vote: UInt32, count: UInt64 = 1) {
        if count > 0 { unknownVotes[vote, default: 0] += count }
    }

    /// Records that a create of client number `client` gets no answer; `number` is the client's own
    /// number of the post.
    mutating func forget(create number: UInt32, client: Int) {
        unknownTitles.insert(PostText.title(maker: client + 1, number: Int(number)))
    }

    /// Records an acknowledged vote that an earlier send may have executed.
    mutating func repeatVote(_ vote: UInt32) {
        repeatedVotes[vote, default: 0] += 1
    }

    mutating func create(_ id: UInt64) {
        createdIDs.append(id)
    }
}
