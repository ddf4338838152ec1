/// A post from another system, with what it had there; checked by the caller.
package struct ImportedPost: Sendable, Equatable {
    /// What the post says.
    package var content: PostContent
    /// Unix time, 0 to `RankingLimits.maximumTimeMilliseconds`, in any order, also before posts
    /// that are there.
    package var createTimeMilliseconds: Int64
    /// The ups it comes with, to which votes add; at most `RankingLimits.maximumImportedCount`.
    package var upvoteCount: UInt64
    /// The downs it comes with, to which votes add; at most `RankingLimits.maximumImportedCount`.
    package var downvoteCount: UInt64

    /// A post without votes, unless some are given.
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

/// What an import left behind.
package struct ImportOutcome: Equatable, Sendable {
    /// The first post's id; the others follow it one by one.
    package var firstID: PostID
    /// The greatest revision of its posts.
    package var revision: UInt64
    /// A post of each stripe that the caller should settle once its answers are out.
    package var settlingDue: [PostID]
}
