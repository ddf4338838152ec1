internal import FeedProto
internal import FeedRanking

/// The result of a call that is executed.
enum Answer {
    /// The counts after a vote, which are encoded without a message because votes are so frequent.
    case vote(CastVoteResponse, revision: UInt64)
    /// A message, and the revision of the state that it reflects.
    case response(Response, revision: UInt64)
    /// The posts that the call has left in `PostCalls.page`, in one of the messages that have posts.
    ///
    /// The page keeps its memory from call to call, so the answer names the page and does not carry
    /// posts. The next call of the loop clears the page, so the answer is encoded before it.
    case postsInPage(Posts, revision: UInt64)
    /// The page that is kept encoded at a place of `Answers.kept`, with what `Answers.viewers` says of its
    /// posts and with tokens of this scope.
    case keptPage(Int, PageTokenScope, revision: UInt64)
    /// No answer in this loop iteration: the call has more work than one iteration allows, and is
    /// passed again in a later one.
    case again
    /// No answer in this loop iteration: the call waits for the work of another one, and is passed again
    /// in a later one.
    case wait
    /// No answer in this loop iteration: the answer follows when a backup is made.
    case afterBackup
    /// No answer of its own: the events of a watch follow, or end.
    case events
    /// No answer in this loop iteration: the answer follows when the password was hashed.
    indirect case afterHash(SignIn)

    /// The message that posts are sent in.
    enum Posts {
        /// The one post that the page has, as a Post.
        case one
        /// All posts of the page, as a list whose tokens are valid in this scope.
        case page(PageTokenScope)
        /// All posts of the page, as changes since a revision.
        case changes(SyncPage)
        /// All posts of the page, beside the ids without a post.
        case batch(missing: [UInt64])
    }
}
