import FeedRanking
import FeedTestSupport
import Testing

/// What reads of the first posts cost while posts behind them wait in the stale tail.
@Suite struct HeadBoundaryTests {
    private static let feeds = [FeedID(rawValue: 0), FeedID(rawValue: 1)]
    private static let orders = [Order.top, .hot]

    /// A store with posts in a feed, of which the first `leaderCount` have scores of their own: the first
    /// post has the greatest, and all others have 0.
    private static func store(
        stripeCount: Int,
        postCount: Int,
        leaderCount: Int,
        _ pace: RefreshPace = RefreshPace()
    ) throws -> FeedStore {
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 1_700_000_000_000 }
        var page = PostPage()
        for number in 1...postCount {
            try store.createPost(PostContent(title: "title"), in: feeds[0], into: &page)
            for _ in 0..<max(0, leaderCount + 1 - number) {
                _ = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            }
        }
        for order in orders { _ = try read(store, order, .first, size: 4) }
        return store
    }

    private static func voteDown(_ store: FeedStore, _ numbers: Range<Int>) throws {
        for number in numbers { _ = try store.castVote(PostID(rawValue: UInt64(number)), .down) }
    }

    /// The keys that the first pages of 100 took from an allowance, one page after another.
    private static func walk(
        _ store: FeedStore,
        feed: FeedID = feeds[0],
        _ order: Order,
        pageCount: Int
    ) throws -> [Int] {
        var page = PostPage()
        var start = PageQuery.Start.first
        return try (0..<pageCount).map { number in
            var allowance = RefreshAllowance(keyCount: 1_000_000)
            let query = PageQuery(feed: feed, order: order, size: 100, start: start)
            #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
            #expect(page.rows.count == 100)
            if number + 1 < pageCount { start = .cursor(try #require(page.next)) }
            return 1_000_000 - allowance.remainingKeyCount
        }
    }

    /// The keys that a page took from an allowance.
    private static func read(
        _ store: FeedStore,
        feed: FeedID = feeds[0],
        _ order: Order,
        _ start: PageQuery.Start,
        size: Int
    ) throws -> Int {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: 1_000_000)
        let query = PageQuery(feed: feed, order: order, size: size, start: start)
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.count == size)
        return 1_000_000 - allowance.remainingKeyCount
    }

    @Test(arguments: [(1, 300), (4, 300), (8, 400), (16, 400), (16, 1_000)])
    func aFirstPageOfTheLargestSizeLeavesTheTail(stripeCount: Int, postCount: Int) throws {
        let store = try Self.store(
            stripeCount: stripeCount,
            postCount: postCount,
            leaderCount: postCount
        )
        try Self.voteDown(store, postCount * 4 / 5..<postCount)
        for order in Self.orders {
            #expect(try Self.read(store, order, .first, size: 100) == 0)
        }
        // The tail was stale.
        let refreshed = try Self.read(store, .top, .rank(UInt64(postCount - 9)), size: 10)
        #expect(refreshed >= postCount / 5)
    }

    /// The stale tail is the stripe's, so its length decides, not that of the feed.
    @Test func noPageOfAShortFeedPaysForALongOne() throws {
        let store = try Self.store(stripeCount: 1, postCount: 4_000, leaderCount: 600)
        var page = PostPage()
        for _ in 1...300 {
            try store.createPost(PostContent(title: "title"), in: Self.feeds[1], into: &page)
        }
        for order in Self.orders {
            _ = try Self.read(store, feed: Self.feeds[1], order, .first, size: 4)
        }
        try Self.voteDown(store, 2_000..<3_500)
        for order in Self.orders {
            let taken = try Self.walk(store, feed: Self.feeds[1], order, pageCount: 3)
            #expect(taken == [0, 0, 0])
        }
        #expect(try Self.read(store, .top, .rank(2_001), size: 10) >= 1_500)
    }

    /// An index that a job has split has few of its keys, and keeps its head boundary all the same.
    @Test func readsOfTheHeadLeaveAJobAlone() throws {
        var pace = RefreshPace()
        pace.minimumStaleCount = 500
        pace.wholePostCount = 0
        pace.stepKeyCount = 100
        let store = try Self.store(stripeCount: 1, postCount: 4_000, leaderCount: 600, pace)
        try Self.voteDown(store, 1_000..<3_900)
        var stepCount = 0
        while try store.castVote(PostID(rawValue: 4_000), .down).refreshIsDue, stepCount < 1_000 {
            store.refresh(stripeOf: PostID(rawValue: 1))
            _ = try store.castVote(PostID(rawValue: 1), .up)
            for order in Self.orders {
                // The first page moves the leader, which has a vote.
                let taken = try Self.walk(store, order, pageCount: 5)
                #expect(taken[0] <= 1 && taken.dropFirst() == [0, 0, 0, 0], "step \(stepCount)")
            }
            stepCount += 1
        }
        #expect(stepCount > 10 && stepCount < 1_000)
    }
}
