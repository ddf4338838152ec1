/// The result of one vote of a batch.
public struct CastVoteResult: Equatable, Sendable {
    /// Why it failed; nil is OK.
    public var status: Status?
    /// The counts; nil where it failed.
    public var vote: CastVoteResponse?

    /// A result as it is on the wire; one of the two is nil.
    public init(status: Status?, vote: CastVoteResponse?) {
        self.status = status
        self.vote = vote
    }
}
