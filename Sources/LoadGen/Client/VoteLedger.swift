/// The votes that a thread's connections cast, in either protocol: the audit compares them later, and answers
/// must show them already.
///
/// Where votes leave in batches, the argument of a vote's request is its place in `batches`; otherwise
/// it is the number of the vote itself. Where users vote, the number of a vote has its post and its
/// direction, and the request in flight names the user: the connection's own number of it.
///
/// A client is a connection, by its number in the thread.
final class VoteLedger {
    /// What the numbers of votes stand for.
    let tallied: Tallied
    let isBatching: Bool
    let posts: PostSlab
    var batches: BatchSlab
    /// The scores that pages must show; nil in a run without pages, or if scores may fall.
    var shownScores: AcknowledgedScores?
    var counts = AuditCounts()

    private let scores: ScoreMemory
    /// What is known of the ballots of this thread's voters; empty without voters.
    private let ballots: BallotSlab
    private let mostVotersOfAClient: Int
    /// How far the number of a vote is shifted to the left of its post's.
    private let voteShift: UInt32
    private let firstClient: Int

    init(_ setup: WorkerSetup) {
        let configuration = setup.configuration
        tallied = setup.workload.tallied
        isBatching = configuration.batchVoteCount > 1
        posts = PostSlab(ids: setup.workload.postIDs)
        batches = BatchSlab(
            count: setup.clientCount * configuration.pipelineDepth,
            capacity: configuration.batchVoteCount
        )
        shownScores = AcknowledgedScores(of: configuration.mix, setup.workload.tallied)
        scores = ScoreMemory(clientCount: setup.clientCount)
        mostVotersOfAClient = configuration.mostVotersOfAClient
        ballots = BallotSlab(
            voterCount: setup.clientCount * configuration.mostVotersOfAClient,
            postCount: setup.workload.postIDs.count
        )
        voteShift = setup.workload.tallied == .ballots ? 2 : 0
        firstClient = setup.firstClient
    }

    @inline(__always)
    func votedPostID(_ vote: UInt32) -> UInt64 { posts.id(vote &>> voteShift) }

    /// Asks for the memory of the id of a vote's post, before it is read.
    @inline(__always)
    func prefetchPostID(_ vote: UInt32) { posts.prefetchID(vote &>> voteShift) }

    /// The number of operations of a request: the votes of a batch, otherwise one.
    @inline(__always)
    func weight(_ request: InFlightRequest) -> Int {
        isBatching && request.operation == .vote ? batches.count(request.argument) : 1
    }

    /// Counts the acknowledged vote of a number, and notes a score that contradicts the answers
    /// before.
    ///
    /// A vote that was sent once raises the score above all that its connection has seen. If an
    /// earlier send was executed, the answer has the current score, which another answer may have
    /// too.
    @inline(never)
    func acknowledge(
        _ answer: VoteAnswer,
        of vote: UInt32,
        in request: InFlightRequest,
        client: Int
    ) {
        guard tallied != .ballots, request.marks.contains(.again) else {
            return acknowledgeFirst(answer, of: vote, in: request, client: client)
        }
        let count = tallied.count(answer, vote)
        posts.acknowledge(vote, score: count)
        shownScores?.note(answer.postID, score: answer.score)
        if request.marks.contains(.doubtful) { counts.repeatVote(vote) }
        if scores.falls(client: client, post: vote, score: count) {
            noteFallingScore(answer.postID, answer.score, client: client)
        }
    }

    /// Counts the acknowledged vote of a number that was sent once, and raised the score.
    ///
    /// A user's ballot may have been sent again.
    @inline(__always)
    func acknowledgeFirst(
        _ answer: VoteAnswer,
        of vote: UInt32,
        in request: InFlightRequest,
        client: Int
    ) {
        guard tallied != .ballots else {
            return acknowledgeBallot(answer, of: vote, in: request, client: client)
        }
        let count = tallied.count(answer, vote)
        posts.acknowledge(vote, score: count)
        shownScores?.note(answer.postID, score: answer.score)
        if !scores.rises(client: client, post: vote, score: count) {
            noteFallingScore(answer.postID, answer.score, client: client)
        }
    }

    /// Counts an acknowledged vote up on a post, of which the answer says the score alone.
    @inline(__always)
    func acknowledge(_ post: UInt32, score: Int64, client: Int) {
        posts.acknowledge(post, score: score)
        if !scores.rises(client: client, post: post, score: score) {
            noteFallingScore(posts.id(post), score, client: client)
        }
    }

    /// Takes an acknowledged vote into the ballots of a client.
    ///
    /// The answer to a vote that was sent once has that vote as the voter's ballot. The answer to a
    /// vote sent again may be of an earlier send, and then has the ballot that stands now.
    private func acknowledgeBallot(
        _ answer: VoteAnswer,
        of vote: UInt32,
        in request: InFlightRequest,
        client: Int
    ) {
        let standing = BallotSet(standing: answer.standingBallot)
        let ballot = tallied.ballot(vote)
        let isKnown =
            request.marks.contains(.doubtful)
            ? !standing.isEmpty : standing == BallotSet(ballot)
        if !isKnown { noteWrongBallot(answer, ballot) }
        ballots[row(client, request.voter), vote >> voteShift] =
            standing.isEmpty ? BallotSet(ballot) : standing
    }

    func fail(_ request: InFlightRequest) {
        eachVote(request) { fail($0) }
    }

    /// Records that the vote of a number failed and did not count.
    func fail(_ vote: UInt32) {
        if let account = tallied.account(vote) { counts.fail(vote: account) }
    }

    func forget(_ request: InFlightRequest, client: Int) {
        if request.operation == .create {
            counts.forget(create: request.argument, client: firstClient + client)
        }
        eachVote(request) { forget($0, of: request, client: client) }
    }

    func forget(_ vote: UInt32, of request: InFlightRequest, client: Int) {
        guard tallied == .ballots else { return counts.forget(vote: vote) }
        let row = row(client, request.voter)
        ballots[row, vote >> voteShift].insert(BallotSet(tallied.ballot(vote)))
    }

    /// Records that nothing more will be known of a request.
    @inline(__always)
    func release(_ request: InFlightRequest) {
        guard isBatching, request.operation == .vote else { return }
        batches.release(request.argument)
    }

    /// What is known of the votes, by account, and what is rare.
    func knowledge() -> (tallies: [VoteTally], counts: AuditCounts) {
        guard tallied == .ballots else { return (posts.tallies(), counts) }
        var tallies: [VoteTally] = []
        var counts = counts
        for (post, tally) in ballots.tallies().enumerated() {
            for acknowledged in [tally.upCount, tally.downCount] {
                tallies.append(VoteTally(acknowledged: acknowledged))
            }
            counts.forget(vote: UInt32(2 * post), count: tally.possibleUpCount)
            counts.forget(vote: UInt32(2 * post + 1), count: tally.possibleDownCount)
        }
        return (tallies, counts)
    }

    private func eachVote(_ request: InFlightRequest, _ body: (UInt32) -> Void) {
        guard request.operation == .vote else { return }
        guard isBatching else { return body(request.argument) }
        for item in 0..<batches.count(request.argument) {
            body(batches.vote(item, of: request.argument))
        }
    }

    private func row(_ client: Int, _ voter: UInt16) -> Int {
        client * mostVotersOfAClient + Int(voter)
    }

    @inline(never)
    private func noteFallingScore(_ postID: UInt64, _ score: Int64, client: Int) {
        counts.findings.note(
            .fallingScore,
            """
            Post \(postID): a vote of client \(firstClient + client) was answered with score \(score), \
            not above the score of its vote before.
            """
        )
    }

    @inline(never)
    private func noteWrongBallot(_ answer: VoteAnswer, _ ballot: Ballot) {
        counts.findings.note(
            .wrongBallot,
            """
            Post \(answer.postID): a vote \(ballot) was answered with the ballot \
            \(answer.standingBallot).
            """
        )
    }
}

@available(*, unavailable)
extension VoteLedger: Sendable {}
