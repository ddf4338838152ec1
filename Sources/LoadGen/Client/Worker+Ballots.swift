/// Votes by number, and the ballots of the thread's voters.
///
/// Where users vote, the number of a vote has its post and its direction, and the request in flight
/// names the user: the connection's own number of it.
extension Worker {
    /// The post that the vote of a number is on.
    @inline(__always)
    func votedPostID(_ vote: UInt32) -> UInt64 { posts.id(vote &>> voteShift) }

    /// Asks for the memory of the id of a vote's post, before it is read.
    @inline(__always)
    func prefetchPostID(_ vote: UInt32) { posts.prefetchID(vote &>> voteShift) }

    /// Takes an acknowledged vote into the ballots of client number `client` of this thread.
    ///
    /// The answer to a vote that was sent once has that vote as the voter's ballot. The answer to a
    /// vote sent again may be of an earlier send, and then has the ballot that stands now.
    func acknowledgeBallot(
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

    /// Records that the vote of a number failed and did not count.
    func fail(_ vote: UInt32) {
        if let account = tallied.account(vote) { counts.fail(vote: account) }
    }

    /// Records that a vote of client number `client` of this thread may have counted.
    func forget(_ vote: UInt32, of request: InFlightRequest, client: Int) {
        guard tallied == .ballots else { return counts.forget(vote: vote) }
        let row = row(client, request.voter)
        ballots[row, vote >> voteShift].insert(BallotSet(tallied.ballot(vote)))
    }

    /// What this thread knows of the votes, by account, in a run with voters.
    func ballotKnowledge() -> (tallies: [VoteTally], counts: AuditCounts) {
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

    private func row(_ client: Int, _ voter: UInt16) -> Int {
        client * setup.configuration.mostVotersOfAClient + Int(voter)
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
