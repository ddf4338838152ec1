/// An answer.
///
/// Large answers are `indirect` so that a vote's answer stays small and trivial to move.
public enum Response: Equatable, Sendable {
    /// Introduces the service.
    indirect case hello(HelloResponse)
    /// A sign of life.
    case ping(PingResponse)
    /// The service is about to close the connection.
    case goAway(GoAway)
    /// The post that was created, asked for or changed.
    indirect case post(Post)
    /// The ids of the posts that were imported.
    case importPosts(ImportPostsResponse)
    /// Posts by id.
    case batchGetPosts(BatchGetPostsResponse)
    /// A page of a feed.
    indirect case listPosts(ListPostsResponse)
    /// The place of a post.
    case postRank(PostRank)
    /// A post's counts after a vote.
    case castVote(CastVoteResponse)
    /// The result of each vote.
    case batchCastVotes(BatchCastVotesResponse)
    /// All feeds.
    case listFeeds(ListFeedsResponse)
    /// The service's statistics.
    indirect case serverStats(ServerStats)
    /// The feed that was created.
    indirect case feed(Feed)
    /// The backup that was made.
    indirect case backup(BackupResponse)
    /// Posts whose times lie ahead of the clock.
    indirect case correctTimes(CorrectTimesResponse)
    /// Success without a value.
    case empty
}
