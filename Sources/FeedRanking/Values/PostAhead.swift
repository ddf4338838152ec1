/// A post whose creation or last edit lies ahead of the clock, as it was found.
package struct PostAhead: Equatable, Sendable {
    /// The id of the post.
    package var id: PostID
    /// The feed of the post.
    package var feed: FeedID
    /// The title of the post, by which a reader can tell it from other posts.
    package var title: String
    /// The Unix time of its creation, before any correction.
    package var createTimeMilliseconds: Int64
    /// The Unix time of its last edit, before any correction.
    package var updateTimeMilliseconds: Int64
}

/// A part of the posts that lie ahead of the clock, in the order of their ids.
package struct PostsAhead: Equatable, Sendable {
    /// The posts of this part; the part may be empty although more parts follow.
    package var posts: [PostAhead] = []
    /// The last id that was examined, where more ids follow; nil at the end.
    package var next: PostID?
    /// The bytes of the posts' texts.
    var textByteCount = 0
    /// The greatest revision that a correction took; 0 where no post was corrected.
    package var revision: UInt64 = 0
    /// A post of each stripe that the caller should refresh after its answers are sent.
    package var refreshDue: [PostID] = []
}
