/// The numbers of a post at a moment, without its texts.
package struct PostNumbers: BitwiseCopyable, Equatable, Sendable {
    /// The id of the post.
    package var id: PostID
    /// The number of the last write of any kind, votes among them.
    package var revision: UInt64
    /// The number of the last write that was no vote: the texts have been the same since.
    package var editRevision: UInt64
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64

    /// Upvotes less downvotes.
    package var score: Int64 { Int64(bitPattern: upvoteCount &- downvoteCount) }

    /// The numbers of a record.
    @inline(__always)
    init(_ id: PostID, _ record: PostRecord) {
        self.id = id
        revision = record.revision
        editRevision = record.content.editRevision
        upvoteCount = record.upvoteCount
        downvoteCount = record.downvoteCount
    }
}
