// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// The direction of a vote.
public struct VoteDirection: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No direction; as a ballot, none.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// For the post.
    public static var up: Self { Self(rawValue: 1) }
    /// Against the post.
    public static var down: Self { Self(rawValue: 2) }
    /// Takes the ballot back; on a TALLY feed INVALID_ARGUMENT / BAD_VOTE.
    public static var clear: Self { Self(rawValue: 3) }

    /// The contract's names, by number.
    public static let names = ["VOTE_DIRECTION_UNSPECIFIED", "UP", "DOWN", "CLEAR"]
}

/// Votes on a post: one more on a TALLY feed, the caller's ballot on a BALLOT feed.
///
/// The answer: `CastVoteResponse`.
public struct CastVoteRequest: Equatable, Sendable {
    /// The post.
    public var postID: UInt64
    /// The direction of the vote.
    public var direction: VoteDirection

    /// All fields; each must be given.
    public init(postID: UInt64, direction: VoteDirection) {
        self.postID = postID
        self.direction = direction
    }
}

/// A post's counts, this vote among them.
public struct CastVoteResponse: Equatable, Sendable {
    /// The post.
    public var postID: UInt64
    /// Upvotes minus downvotes.
    public var score: Int64
    /// The number of votes for the post.
    public var upvoteCount: UInt64
    /// The number of votes against the post.
    public var downvoteCount: UInt64
    /// The caller's ballot now, on a BALLOT feed; else unspecified.
    public var vote: VoteDirection

    /// All fields; those with a default may be left out.
    public init(
        postID: UInt64,
        score: Int64,
        upvoteCount: UInt64,
        downvoteCount: UInt64,
        vote: VoteDirection = .unspecified
    ) {
        self.postID = postID
        self.score = score
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.vote = vote
    }
}

/// Casts several votes in one frame; the batch is not atomic.
///
/// The answer: `BatchCastVotesResponse`.
public struct BatchCastVotesRequest: Equatable, Sendable {
    /// The votes, 1 to 256.
    ///
    /// Those on one post are executed in their order.
    public var votes: [CastVoteRequest]

    /// All fields; each must be given.
    public init(votes: [CastVoteRequest]) {
        self.votes = votes
    }
}

/// The result of each vote of a batch.
public struct BatchCastVotesResponse: Equatable, Sendable {
    /// The results, in the order of the votes.
    public var results: [CastVoteResult]

    /// All fields; each must be given.
    public init(results: [CastVoteResult]) {
        self.results = results
    }
}

/// The result of one vote of a batch.
public struct CastVoteResult: Equatable, Sendable {
    /// Why it failed; nil is OK.
    ///
    /// `isNotExecuted` is of this vote alone: the batch was executed, and its sequence is not free.
    public var status: Status?
    /// The counts; nil where `status` is present.
    public var vote: CastVoteResponse?

    /// All fields; each must be given.
    public init(status: Status?, vote: CastVoteResponse?) {
        self.status = status
        self.vote = vote
    }
}

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
