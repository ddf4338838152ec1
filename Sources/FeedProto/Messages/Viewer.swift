/// The caller's relation to a post.
public struct Viewer: Equatable, Sendable {
    /// The caller's ballot; unspecified means none.
    public var vote: VoteDirection

    /// A relation, by default none.
    public init(vote: VoteDirection = .unspecified) {
        self.vote = vote
    }
}
