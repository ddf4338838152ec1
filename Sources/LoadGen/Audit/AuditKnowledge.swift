/// What all threads of a run know about its posts, merged for the audit.
struct AuditKnowledge: Sendable {
    /// The posts of the run.
    private(set) var accounts: [PostAccount]
    /// Posts that acknowledged requests created.
    private(set) var createdIDs: Set<UInt64> = []
    /// Titles of posts that requests without an answer may have created.
    private(set) var unknownTitles: Set<String> = []
    /// Contradictions found during the load.
    private(set) var findings = Findings()

    /// Knows the posts and nothing else.
    init(postIDs: [UInt64], unknownTitles: Set<String> = []) {
        accounts = postIDs.map { PostAccount(id: $0) }
        self.unknownTitles = unknownTitles
    }

    /// The knowledge of another run.
    init(accounts: [PostAccount], createdIDs: Set<UInt64>, unknownTitles: Set<String>) {
        self.accounts = accounts
        self.createdIDs = createdIDs
        self.unknownTitles = unknownTitles
    }

    /// Knows the posts and the votes that each is to get, ups and downs alternately, and nothing
    /// else.
    init(postIDs: [UInt64], planned: [UInt64]) {
        accounts = postIDs.indices.flatMap { post in
            [PostAccount.Number.upvotes, .downvotes].enumerated().map { offset, number in
                var account = PostAccount(id: postIDs[post])
                account.number = number
                account.planned = planned[2 * post + offset]
                return account
            }
        }
    }

    /// Knows posts for which users vote, and nothing else.
    init(ballotsOn postIDs: [UInt64], unknownTitles: Set<String>) {
        accounts = postIDs.flatMap { id in
            [PostAccount.Number.ballotsUp, .ballotsDown].map { number in
                var account = PostAccount(id: id)
                account.number = number
                return account
            }
        }
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

    /// Records an error answer to the vote of a number.
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

    /// Records a created post.
    mutating func create(_ id: UInt64) {
        createdIDs.append(id)
    }
}
