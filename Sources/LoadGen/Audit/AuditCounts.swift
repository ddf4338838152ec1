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

    /// Records that the vote of a number gets no answer.
    mutating func forget(vote: UInt32) {
        unknownVotes[vote, default: 0] += 1
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
