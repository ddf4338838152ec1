import CFeedProto

extension BatchCastVotesRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BatchCastVotesRequest>) {
        unsafe feed__v1__batch_cast_votes_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BatchCastVotesRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            votes: reader.messages(
                message.pointee.votes,
                count: message.pointee.n_votes,
                "votes"
            )
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
