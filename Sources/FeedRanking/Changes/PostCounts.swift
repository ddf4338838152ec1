/// The votes of a post as of a revision.
package struct PostCounts: BitwiseCopyable, Equatable, Sendable {
    /// The post.
    package var id: PostID
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64
    /// The number of the post's last write of any kind, votes among them.
    package var revision: UInt64

    /// The votes of a post as of a revision.
    package init(id: PostID, upvoteCount: UInt64, downvoteCount: UInt64, revision: UInt64) {
        self.id = id
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.revision = revision
    }
}
