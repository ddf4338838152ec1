internal import FeedProto
internal import FeedRanking

/// Votes and marks.
extension MemoryState {
    /// Casts a vote; a caller's first ballot makes it a voter.
    func castVote(
        _ request: CastVoteRequest,
        _ viewer: MemoryViewer
    ) throws(Status) -> CastVoteResponse {
        guard
            let direction = FeedRanking.VoteDirection(
                rawValue: UInt8(clamping: request.direction.rawValue)
            )
        else { throw .badVote(request.direction) }
        let post = PostID(rawValue: request.postID)
        let outcome = try castVote(on: post, direction, viewer)
        return CastVoteResponse(
            postID: request.postID,
            score: outcome.score,
            upvoteCount: outcome.upvoteCount,
            downvoteCount: outcome.downvoteCount,
            vote: FeedProto.VoteDirection(rawValue: Int32(outcome.standingVote?.rawValue ?? 0))
        )
    }

    private func castVote(
        on post: PostID,
        _ direction: FeedRanking.VoteDirection,
        _ viewer: MemoryViewer
    ) throws(Status) -> VoteOutcome {
        let feed = try ranked { () throws(RankingError) in try store.feed(of: post) }
        // Only ballots need a voter, and only votes that set one make the caller a voter.
        let mode = policy(of: feed).voteMode
        var voter = voter(of: viewer)
        if mode.keepsBallots, direction != .clear || mode == .userBallot {
            if mode == .userBallot, viewer.userID == 0 {
                throw .identityRequired("Only users have ballots in this feed: sign in first.")
            }
            voter = try becomeVoter(viewer)
        }
        let outcome = try ranked { () throws(RankingError) in
            try store.castVote(post, direction, voter: voter)
        }
        guard !mode.keepsBallots || viewer.key != nil else {
            throw .identityRequired("A ballot needs an identity: connect with a client id.")
        }
        return outcome
    }

    /// Casts votes in order; each succeeds or fails by itself.
    func castVotes(
        _ request: BatchCastVotesRequest,
        _ viewer: MemoryViewer
    ) throws(Status) -> Response {
        try Self.checkBatch(request.votes.count, "votes", limit: MemoryLimits.batchVoteCount)
        let results = request.votes.map { vote in
            do throws(Status) {
                return CastVoteResult(status: nil, vote: try castVote(vote, viewer))
            } catch {
                return CastVoteResult(status: error, vote: nil)
            }
        }
        return .batchCastVotes(BatchCastVotesResponse(results: results))
    }

    /// Marks posts; the answer counts what is left to read.
    func markPosts(
        _ request: MarkPostsRequest,
        _ viewer: MemoryViewer
    ) throws(Status) -> Response {
        guard viewer.key != nil else {
            throw .identityRequired("MarkPosts needs an identity: connect with a client id.")
        }
        guard let mark = FeedRanking.Mark(rawValue: UInt8(clamping: request.mark.rawValue)) else {
            throw .invalid(
                .badField,
                "mark",
                actual: UInt64(bitPattern: Int64(request.mark.rawValue))
            )
        }
        let feed = request.feed.isEmpty ? nil : try feed(named: request.feed)
        guard request.postIDs.isEmpty != (request.throughPostID == 0) else {
            throw .invalid(.badField, "post_ids")
        }
        if !request.postIDs.isEmpty {
            let limit = MemoryLimits.batchGetCount
            try Self.checkBatch(request.postIDs.count, "post_ids", limit: limit)
        }
        let voter = try becomeVoter(viewer)
        try ranked { () throws(RankingError) in
            if request.postIDs.isEmpty {
                let last = PostID(rawValue: request.throughPostID)
                try store.mark(through: last, in: feed, as: mark, by: voter)
            } else {
                try store.mark(request.postIDs.map(PostID.init(rawValue:)), as: mark, by: voter)
            }
        }
        return .markPosts(MarkPostsResponse(unreadCount: unreadCount(in: feed, voter)))
    }

    /// How many posts a viewer has left to read.
    func unreadCount(in feed: FeedID?, _ voter: VoterID?) -> UInt64 {
        var allowance = RefreshAllowance(keyCount: .max)
        return store.unreadCount(in: feed, by: voter, allowance: &allowance) ?? 0
    }
}

extension Status {
    /// A vote that is neither up, down nor clear.
    fileprivate static func badVote(_ direction: FeedProto.VoteDirection) -> Status {
        .invalid(
            .badVote,
            "direction",
            actual: UInt64(bitPattern: Int64(direction.rawValue))
        )
    }
}
