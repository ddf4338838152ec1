package final class FeedStore: Sendable {
    package init(stripeCount: Int, clock: @escaping @Sendable () -> Int64) {
        fatalError()
    }
    package func createFeed(_ policy: FeedPolicy) throws(RankingError) -> FeedID { fatalError() }
    package func feed(named name: String) -> FeedID? { fatalError() }
    package func policy(of feed: FeedID) -> FeedPolicy? { fatalError() }
    package func feeds() -> [FeedSummary] { fatalError() }
    package var revision: UInt64 { fatalError() }
    package var postCount: UInt64 { fatalError() }
    package var contentionCount: UInt64 { fatalError() }
    package func voter(forDevice device: (UInt64, UInt64)) throws(RankingError) -> VoterID {
        fatalError()
    }
    @discardableResult package func createPost(
        _ content: PostContent, in feed: FeedID, into page: inout PostPage
    ) throws(RankingError) -> WriteOutcome { fatalError() }
    @discardableResult package func updatePost(
        _ id: PostID, _ changes: PostChanges, expectedRevision: UInt64 = 0,
        voter: VoterID? = nil,
        into page: inout PostPage
    ) throws(RankingError) -> WriteOutcome { fatalError() }
    @discardableResult package func deletePost(
        _ id: PostID, expectedRevision: UInt64 = 0
    ) throws(RankingError) -> WriteOutcome { fatalError() }
    @discardableResult package func castVote(
        _ id: PostID, _ direction: VoteDirection, voter: VoterID? = nil
    ) throws(RankingError) -> VoteOutcome { fatalError() }
    package func post(
        _ id: PostID, voter: VoterID? = nil, into page: inout PostPage
    ) throws(RankingError) { fatalError() }
    /// Appends the posts found, and returns the ids that are missing and how many ids were looked at.
    package func posts(
        _ ids: [PostID], voter: VoterID? = nil, byteLimit: Int, missing: inout [PostID],
        into page: inout PostPage
    ) -> Int { fatalError() }
    package func rank(
        of id: PostID, order: Order, budget: inout SettlingBudget
    ) throws(RankingError) -> RankOutcome { fatalError() }
    package func page(
        _ query: PageQuery, into page: inout PostPage, budget: inout SettlingBudget
    ) throws(RankingError) -> PageOutcome { fatalError() }
    package func settle(stripeOf id: PostID) { fatalError() }
}
