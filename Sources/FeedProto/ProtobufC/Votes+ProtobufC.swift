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
            postID: message.pointee.post_id,
            direction: VoteDirection(message.pointee.direction)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__CastVoteRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.post_id = postID
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
            postID: message.pointee.post_id,
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
        unsafe message.pointee.post_id = postID
        unsafe message.pointee.score = score
        unsafe message.pointee.upvote_count = upvoteCount
        unsafe message.pointee.downvote_count = downvoteCount
        unsafe message.pointee.vote = vote.cValue()
    }
}
