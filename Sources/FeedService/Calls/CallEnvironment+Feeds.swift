internal import FeedProto
internal import FeedRanking

/// How calls name feeds and orders.
extension CallEnvironment {
    /// The feed of a created post whose request names none.
    static let defaultFeed = "posts"

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

    /// The window that was asked for; unspecified is all time, which nil is.
    func window(
        _ window: FeedProto.Window,
        of order: FeedRanking.Order
    ) throws(Status) -> FeedRanking.Window? {
        if window == .unspecified { return nil }
        guard let known = FeedRanking.Window(window) else {
            throw .unknownValue(window, field: "window")
        }
        guard order.allowsWindow else {
            throw .invalid(
                .badField,
                field: "window",
                "window is \(window); lists of TOP, CONTROVERSIAL and DISCUSSED have windows, and "
                    + "the order is \(FeedProto.Order(order)).",
                actual: UInt64(bitPattern: Int64(window.rawValue))
            )
        }
        return known
    }

    /// The answer to a repeated creation of a feed, with the state of now.
    func feedNow(named name: String) throws(Status) -> Answer {
        let revision = store.revision
        guard let feed = store.feeds().first(where: { $0.policy.name == name }) else {
            throw .executedOnWhatIsGone(.feedNotFound(name))
        }
        return .response(.feed(Feed(feed.policy, postCount: feed.postCount)), revision: revision)
    }
}
