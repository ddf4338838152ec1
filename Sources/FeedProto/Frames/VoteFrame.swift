/// A `ClientFrame` that casts one vote: the call that services are sent most.
public struct VoteFrame: Equatable, Sendable {
    /// Names the call; above 0 and strictly increasing on a connection.
    public var id: UInt64
    /// How long the answer may take; 0 is the service's default.
    public var timeoutMilliseconds: UInt32
    /// Names a mutation for good, so that it is executed exactly once; 0 is at most once.
    public var sequence: UInt64
    /// The answer is never from a state older than this revision; 0 is any.
    public var minimumRevision: UInt64
    /// The vote.
    public var vote: CastVoteRequest

    /// A frame with the service's default deadline, at most once, from any state.
    public init(
        id: UInt64,
        vote: CastVoteRequest,
        timeoutMilliseconds: UInt32 = 0,
        sequence: UInt64 = 0,
        minimumRevision: UInt64 = 0
    ) {
        self.id = id
        self.timeoutMilliseconds = timeoutMilliseconds
        self.sequence = sequence
        self.minimumRevision = minimumRevision
        self.vote = vote
    }
}

extension ClientFrame {
    /// The same call as any other is written.
    public init(_ frame: VoteFrame) {
        self.init(
            id: frame.id,
            request: .castVote(frame.vote),
            timeoutMilliseconds: frame.timeoutMilliseconds,
            sequence: frame.sequence,
            minimumRevision: frame.minimumRevision
        )
    }
}
