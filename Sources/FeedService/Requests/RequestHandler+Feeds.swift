internal import FeedProto
internal import FeedRanking

/// ListFeeds and CreateFeed, and how other calls name feeds and orders.
extension RequestHandler {
    /// The feed that an empty name stands for where a post is created.
    static let defaultFeed = "posts"

    /// All feeds with their policies and sizes.
    func listFeeds() -> Answer {
        let revision = store.revision
        let feeds = store.feeds().map { Feed($0.policy, postCount: $0.postCount) }
        return .response(.listFeeds(ListFeedsResponse(feeds: feeds)), revision: revision)
    }

    /// Creates a feed for a service; its policy never changes again.
    func createFeed(
        _ request: CreateFeedRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try requireService(caller)
        guard let feed = request.feed else { throw .missing("create_feed.feed") }
        try rules.checkFeedName(feed.name)
        let policy = try FeedPolicy(feed, limits: context.limits)
        do throws(RankingError) {
            _ = try store.createFeed(policy, sink: changeLog)
        } catch {
            throw Status(error)
        }
        return .response(.feed(Feed(policy, postCount: 0)), revision: store.revision)
    }

    /// Finds a feed by name.
    func feed(named name: String) throws(Status) -> FeedID {
        guard name.utf8.count <= context.limits.maximumFeedNameByteCount else {
            throw .feedNameTooLong(
                name.utf8.count,
                limit: context.limits.maximumFeedNameByteCount
            )
        }
        guard let feed = store.feed(named: name) else { throw .feedNotFound(name) }
        return feed
    }

    /// The policy of a feed that exists.
    func policy(of feed: FeedID) -> FeedPolicy {
        guard let policy = store.policy(of: feed) else {
            preconditionFailure("A feed that was found stays.")
        }
        return policy
    }

    /// The order that was asked for; unspecified is the feed's own, and TOP on the front page.
    func order(
        _ order: FeedProto.Order,
        in feed: FeedID?,
        field: String
    ) throws(Status) -> FeedRanking.Order {
        if order == .unspecified {
            return feed.map { policy(of: $0).defaultOrder } ?? .top
        }
        guard let order = FeedRanking.Order(order) else { throw .unknownValue(order, field: field) }
        return order
    }

    /// Checks the number of items of a batch.
    func checkBatch(_ count: Int, field: String, limit: Int) throws(Status) {
        guard (1...limit).contains(count) else {
            throw .batchSize(count, field: field, limit: limit)
        }
    }
}
