// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension CastVoteRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CastVoteRequest>) {
        unsafe feed__v1__cast_vote_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CastVoteRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            postID: PostID(rawValue: message.pointee.post_id),
            direction: VoteDirection(message.pointee.direction)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CastVoteRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.post_id = postID.rawValue
        unsafe message.pointee.direction = direction.cValue()
    }
}

extension CastVoteResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CastVoteResponse>) {
        unsafe feed__v1__cast_vote_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CastVoteResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            postID: PostID(rawValue: message.pointee.post_id),
            score: message.pointee.score,
            upvoteCount: message.pointee.upvote_count,
            downvoteCount: message.pointee.downvote_count,
            vote: VoteDirection(message.pointee.vote)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CastVoteResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.post_id = postID.rawValue
        unsafe message.pointee.score = score
        unsafe message.pointee.upvote_count = upvoteCount
        unsafe message.pointee.downvote_count = downvoteCount
        unsafe message.pointee.vote = vote.cValue()
    }
}

extension BatchCastVotesRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchCastVotesRequest>) {
        unsafe feed__v1__batch_cast_votes_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchCastVotesRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            votes: reader.messages(message.pointee.votes, count: message.pointee.n_votes, "votes")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BatchCastVotesRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_votes = votes.count
        unsafe message.pointee.votes = arena.messages(votes)
    }
}

extension BatchCastVotesResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchCastVotesResponse>) {
        unsafe feed__v1__batch_cast_votes_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchCastVotesResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            results: reader.messages(
                message.pointee.results,
                count: message.pointee.n_results,
                "results"
            )
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BatchCastVotesResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_results = results.count
        unsafe message.pointee.results = arena.messages(results)
    }
}

extension CastVoteResult: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__CastVoteResult>) {
        unsafe feed__v1__cast_vote_result__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__CastVoteResult>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            status: reader.message(message.pointee.status, "status"),
            vote: reader.message(message.pointee.vote, "vote")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CastVoteResult>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.status = arena.message(status)
        unsafe message.pointee.vote = arena.message(vote)
    }
}

#endif
