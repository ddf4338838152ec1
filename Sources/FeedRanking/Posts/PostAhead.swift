/// A post whose creation or last edit lies ahead of the clock, as it was found.
package struct PostAhead: Equatable, Sendable {
    /// The post.
    package var id: PostID
    /// The feed it is in.
    package var feed: FeedID
    /// What the post is called, for whoever has to tell it from others.
    package var title: String
    /// Unix time of its creation, before any correction.
    package var createTimeMilliseconds: Int64
    /// Unix time of its last edit, before any correction.
    package var updateTimeMilliseconds: Int64
}

/// A part of the posts that lie ahead of the clock, in the order of their ids.
package struct PostsAhead: Equatable, Sendable {
    /// The posts of this part; there may be none, and more behind them.
    package var posts: [PostAhead] = []
    /// The last id that was looked at, where there are more; nil at the end.
    package var next: PostID?
    /// The bytes of the posts' texts.
    var textByteCount = 0
    /// The greatest revision that a correction took; 0 where nothing was corrected.
    package var revision: UInt64 = 0
    /// A post of each stripe that the caller should settle once its answers are out.
    package var settlingDue: [PostID] = []
}
