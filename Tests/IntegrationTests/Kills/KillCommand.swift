import FeedProto

/// A change that a client of a kill run asks for, in terms that the model understands.
enum KillCommand: Sendable {
    /// A vote; a ballot where the post's feed has ballots.
    case vote(CastVoteRequest)
    /// Several votes in one call, none of them a ballot.
    case votes([CastVoteRequest])
    /// A new post with a title that no other post has.
    case create(title: String)
    /// Posts from elsewhere with such titles, and with so many upvotes.
    case importPosts(titles: [String], upvotes: UInt64)
    /// Another text for a post.
    case update(post: UInt64, text: String)
    /// The end of a post.
    case delete(post: UInt64)

    /// The call that asks for it.
    var request: Request {
        switch self {
        case .vote(let vote): .castVote(vote)
        case .votes(let votes): .batchCastVotes(BatchCastVotesRequest(votes: votes))
        case .create(let title): .createPost(CreatePostRequest(post: Post(title: title)))
        case .importPosts(let titles, let upvotes):
            .importPosts(
                ImportPostsRequest(
                    posts: titles.map {
                        Post(
                            title: $0,
                            upvoteCount: upvotes,
                            createTimeMilliseconds: 1_600_000_000_000
                        )
                    }
                )
            )
        case .update(let post, let text):
            .updatePost(UpdatePostRequest(post: Post(id: post, text: text), updateMask: [.text]))
        case .delete(let post): .deletePost(DeletePostRequest(id: post))
        }
    }
}
