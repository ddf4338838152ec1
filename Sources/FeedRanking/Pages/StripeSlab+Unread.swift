/// Counts of the posts that a viewer has neither read nor dismissed.
///
/// The marks through posts divide a list, by time, into parts whose posts have one state. The index
/// of NEW counts the parts without a visit of their posts. Each mark on a single post then adds or
/// subtracts that post.
extension StripeSlab {
    /// What decides which marks reach a post; nil where there is no such post.
    func origin(of id: PostID) -> PostOrigin? {
        withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id) else { return nil }
            return PostOrigin(id, stripe.posts[slot])
        }
    }

    /// The number of unread posts of a feed, or of all feeds, by the marks through posts; nil when
    /// the allowance is used up.
    ///
    /// Threads that write meanwhile may make it too small or too great by their posts.
    func unreadCountThroughPosts(
        in feed: FeedID?,
        _ marks: ViewerMarks,
        _ allowance: inout RefreshAllowance
    ) -> Int? {
        guard var sum = unreadCount(in: feed, as: feed ?? .none, marks, &allowance) else {
            return nil
        }
        if feed == nil {
            for case let markedFeed? in marks.steps.keys {
                guard
                    let withOwn = unreadCount(in: markedFeed, as: markedFeed, marks, &allowance),
                    let withoutOwn = unreadCount(in: markedFeed, as: .none, marks, &allowance)
                else { return nil }
                sum += withOwn - withoutOwn
            }
        }
        return sum
    }

    /// What the marks on single posts add to the unread posts of each feed; nil when the allowance is
    /// used up.
    ///
    /// Each mark is a key of the allowance: a look at a post takes as long as a refresh of it.
    func unreadCountsOnPosts(
        _ marks: ViewerMarks,
        _ allowance: inout RefreshAllowance
    ) -> [FeedID: Int]? {
        var sums: [FeedID: Int] = [:]
        guard !marks.posts.isEmpty else { return sums }
        guard !allowance.isUsedUp else { return nil }
        allowance.charge(marks.posts.count)
        for id in marks.posts.keys {
            guard let post = origin(of: id) else { continue }
            let wasUnread = marks.stateThroughPosts(of: post).isUnread
            let isUnread = marks.state(of: post).isUnread
            guard wasUnread != isUnread else { continue }
            sums[post.feed, default: 0] += isUnread ? 1 : -1
        }
        return sums
    }

    /// The unread posts of a list by the marks through posts of one feed and of all feeds.
    private func unreadCount(
        in list: FeedID?,
        as feed: FeedID,
        _ marks: ViewerMarks,
        _ allowance: inout RefreshAllowance
    ) -> Int? {
        let bounds = marks.steps(reaching: feed)
            .map { $0.origin(in: feed) }
            .sorted { ($0.createTimeMilliseconds, $0.id) > ($1.createTimeMilliseconds, $1.id) }
        let id = ListID(feed: list, kind: .new)
        var sum = 0
        var newerCount = 0
        var partIsUnread = true
        for bound in bounds {
            let place = ListPosition(
                createTimeMilliseconds: bound.createTimeMilliseconds,
                id: bound.id
            )
            guard let counted = count(before: place, id, &allowance) else { return nil }
            if partIsUnread { sum += counted.skippedCount - newerCount }
            newerCount = counted.skippedCount
            partIsUnread = marks.stateThroughPosts(of: bound).isUnread
        }
        if partIsUnread { sum += postCount(of: list) - newerCount }
        return sum
    }

    /// The number of posts of a feed, or of all feeds; O(stripes).
    private func postCount(of feed: FeedID?) -> Int {
        (0..<count).reduce(0) { sum, number in
            sum + withStripe(number) { $0.standing.indexes(feed).postCount }
        }
    }
}

extension FeedID {
    /// A feed that no list has, and so without marks through its posts.
    fileprivate static let none = FeedID(rawValue: .max)
}

extension MarkThrough {
    /// The last post that the mark reaches, as if it were in a feed.
    fileprivate func origin(in feed: FeedID) -> PostOrigin {
        PostOrigin(id: post, feed: feed, createTimeMilliseconds: createTimeMilliseconds)
    }
}

extension PostOrigin {
    /// The origin of a post of a record.
    init(_ id: PostID, _ record: PostRecord) {
        self.init(id: id, feed: record.feed, createTimeMilliseconds: record.createTimeMilliseconds)
    }
}
