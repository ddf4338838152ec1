/// A post from another system, with its time and its votes there; the caller has checked it.
package struct ImportedPost: Sendable, Equatable {
    /// The content of the post.
    package var content: PostContent
    /// The Unix time, 0 to `RankingLimits.maximumTimeMilliseconds`.
    ///
    /// The times may come in any order, also before the times of existing posts.
    package var createTimeMilliseconds: Int64
    /// The upvotes it starts with, at most `RankingLimits.maximumImportedCount`; votes add to them.
    package var upvoteCount: UInt64
    /// The downvotes it starts with, at most `RankingLimits.maximumImportedCount`; votes add to
    /// them.
    package var downvoteCount: UInt64

    /// Makes a post, without votes unless some are given.
    package init(
        content: PostContent,
        createTimeMilliseconds: Int64,
        upvoteCount: UInt64 = 0,
        downvoteCount: UInt64 = 0
    ) {
        self.content = content
        self.createTimeMilliseconds = createTimeMilliseconds
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
    }
}

/// The result of an import.
package struct ImportOutcome: Equatable, Sendable {
    /// The first post's id; the ids of the other posts follow consecutively.
    package var firstID: PostID
    /// The greatest revision of the imported posts.
    package var revision: UInt64
    /// A post of each stripe that the caller should refresh after its answers are sent.
    package var refreshDue: [PostID]
}
