internal import FeedAccounts
internal import FeedProto
internal import FeedRanking

/// Who is the author of a new post, and who may change an old one.
extension CallEnvironment {
    /// The content of a caller's new post; a user is its author under the name of the account.
    ///
    /// The name of an author without an account is the one in the request, which nobody has checked.
    func content(of post: Post, by caller: borrowing Caller) -> PostContent {
        var content = PostContent(post)
        guard let userID = caller.requestUserID else { return content }
        content.authorID = userID
        if let account = context.accounts.account(userID) {
            content.authorName = account.displayName
        }
        return content
    }

    /// Refuses a change of a post by a user who is not its author; a service may change each post.
    ///
    /// A post that is gone has no author, and the call itself says what it answers then.
    func requireAuthor(of id: PostID, _ caller: borrowing Caller) throws(Status) {
        guard !caller.isService else { return }
        let author: UInt64
        do throws(RankingError) {
            author = try store.author(of: id)
        } catch {
            return
        }
        guard author != 0, author == caller.userID else {
            log.refusedEdit(of: id.rawValue, by: caller.userID ?? 0, from: caller.host)
            throw .notAuthor(id.rawValue)
        }
    }
}
