// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

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
    public var postID: PostID
    /// The direction of the vote.
    public var direction: VoteDirection

    /// All fields; each must be given.
    public init(postID: PostID, direction: VoteDirection) {
        self.postID = postID
        self.direction = direction
    }
}

/// A post's counts, this vote among them.
public struct CastVoteResponse: Equatable, Sendable {
    /// The post.
    public var postID: PostID
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
        postID: PostID,
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

extension CastVoteRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        default: FieldShape(2, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            postID: tree.number(node, 0),
            direction: tree.value(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, postID)
        writer.value(2, direction)
    }
}

extension CastVoteResponse: SwiftMessage {
    package static var fieldCount: Int { 5 }
    package static var structByteCount: Int { 64 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        case 3: FieldShape(4, .uint64)
        default: FieldShape(5, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            postID: tree.number(node, 0),
            score: tree.number(node, 1),
            upvoteCount: tree.number(node, 2),
            downvoteCount: tree.number(node, 3),
            vote: tree.value(node, 4)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, postID)
        writer.number(2, score)
        writer.number(3, upvoteCount)
        writer.number(4, downvoteCount)
        writer.value(5, vote)
    }
}

extension BatchCastVotesRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .message(CastVoteRequest.self), .repeated)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            votes: tree.messages(node, 0, "votes")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, votes)
    }
}

extension BatchCastVotesResponse: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .message(CastVoteResult.self), .repeated)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            results: tree.messages(node, 0, "results")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, results)
    }
}

extension CastVoteResult: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .message(Status.self))
        default: FieldShape(2, .message(CastVoteResponse.self))
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            status: tree.message(node, 0, "status"),
            vote: tree.message(node, 1, "vote")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.message(1, status)
        writer.message(2, vote)
    }
}
