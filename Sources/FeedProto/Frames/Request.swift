/// A call.
///
/// Large requests are `indirect` so that a vote's frame stays small and trivial to move.
public enum Request: Equatable, Sendable {
    /// Introduces the client.
    indirect case hello(HelloRequest)
    /// Asks for a sign of life.
    case ping(PingRequest)
    /// Creates a post.
    indirect case createPost(CreatePostRequest)
    /// Brings posts from another system.
    case importPosts(ImportPostsRequest)
    /// Imports posts from another system.
    case getPost(GetPostRequest)
    /// Asks for several posts by id.
    case batchGetPosts(BatchGetPostsRequest)
    /// Asks for a page of a feed.
    indirect case listPosts(ListPostsRequest)
    /// Changes fields of a post.
    indirect case updatePost(UpdatePostRequest)
    /// Deletes a post.
    case deletePost(DeletePostRequest)
    /// Asks for the place of a post.
    case getPostRank(GetPostRankRequest)
    /// Votes on a post.
    case castVote(CastVoteRequest)
    /// Votes several times.
    case batchCastVotes(BatchCastVotesRequest)
    /// Asks for all feeds.
    case listFeeds
    /// Asks for the service's statistics.
    case getServerStats
    /// Creates a feed.
    indirect case createFeed(CreateFeedRequest)
    /// Backs up the service's state.
    case backup
    /// Finds posts whose times lie ahead of the clock, and corrects them.
    indirect case correctTimes(CorrectTimesRequest)
}
