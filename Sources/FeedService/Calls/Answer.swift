internal import FeedProto

/// The result of a call that is executed.
enum Answer {
    /// The counts after a vote, which are encoded without a message because votes are so frequent.
    case vote(CastVoteResponse, revision: UInt64)
    /// A message, and the revision of the state that it reflects.
    case response(Response, revision: UInt64)
    /// The posts in the page of ``PostCalls``, in one of the messages that have posts.
    case posts(Posts, revision: UInt64)
    /// No answer in this loop iteration: the call has more work than one iteration allows.
    case later
    /// No answer in this loop iteration: the answer follows when a backup is made.
    case afterBackup

    /// The message that posts are sent in.
    enum Posts {
        /// The only post, as a Post.
        case one
        /// All posts, as a page whose tokens are valid in this scope.
        case page(PageTokenScope)
        /// All posts, beside the ids without a post.
        case batch(missing: [UInt64])
    }
}
