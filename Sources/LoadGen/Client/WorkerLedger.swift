/// What the audit needs to know beside the tallies: all that is rare.
struct WorkerLedger {
    /// Votes answered with an error, by the number of the post.
    private(set) var failedVotes: [UInt32: UInt64] = [:]
    /// Votes without an answer, by the number of the post.
    private(set) var unknownVotes: [UInt32: UInt64] = [:]
    /// Votes acknowledged that may have been executed by an earlier send, by the number of the post.
    private(set) var repeatedVotes: [UInt32: UInt64] = [:]
    /// Posts that acknowledged requests created.
    private(set) var createdIDs: [UInt64] = []
    /// Titles of posts that requests without an answer may have created.
    private(set) var unknownTitles: Set<String> = []
    /// What contradicted itself while the load went on.
    var findings = Findings()

    /// Takes note of an error answer to the vote of a number.
    mutating func fail(vote: UInt32) {
        failedVotes[vote, default: 0] += 1
    }

    /// Takes note that the vote of a number stays without an answer.
    mutating func forget(vote: UInt32) {
        unknownVotes[vote, default: 0] += 1
    }

    /// Takes note that a create of client number `client` stays without an answer; `number` is the
    /// client's own number of the post.
    mutating func forget(create number: UInt32, client: Int) {
        unknownTitles.insert(PostText.title(maker: client + 1, number: Int(number)))
    }

    /// Takes note of an acknowledged vote that may have been executed by an earlier send.
    mutating func repeatVote(_ vote: UInt32) {
        repeatedVotes[vote, default: 0] += 1
    }

    /// Takes note of a created post.
    mutating func create(_ id: UInt64) {
        createdIDs.append(id)
    }
}
