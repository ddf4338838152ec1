/// What the caller has to do with a post.
public struct Viewer: Equatable, Sendable {
    /// The caller's ballot; unspecified is none.
    public var vote: VoteDirection

    /// By default nothing.
    public init(vote: VoteDirection = .unspecified) {
        self.vote = vote
    }
}
