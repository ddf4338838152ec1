import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

/// Side lists that are built and refreshed in many small steps, each under the stripe's lock.
@Suite struct SideStepTests {
    private static let feed = FeedID(rawValue: 0)
    private static let postCount = 2_000

    /// A stripe with votes on all posts, so that BEST, CONTROVERSIAL and TOP have an order.
    private static func store(stepPostCount: Int, stripeCount: Int = 1) throws -> FeedStore {
        var pace = RefreshPace()
        pace.headPostCount = 2
        pace.sideStepPostCount = stepPostCount
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 1_700_000_000_000 }
        var random = SeededGenerator(seed: 3)
        let posts = (0..<postCount).map { number in
            ImportedPost(
                content: PostContent(
                    title: "title \(number % 50)",
                    commentCount: UInt64.random(in: 0..<500, using: &random)
                ),
                createTimeMilliseconds: 1_700_000_000_000 - Int64(number) * 1_000_000,
                upvoteCount: UInt64.random(in: 0..<500, using: &random),
                downvoteCount: UInt64.random(in: 0..<500, using: &random)
            )
        }
        for first in stride(from: 0, to: postCount, by: 250) {
            try store.importPosts(Array(posts[first..<first + 250]), in: feed)
        }
        return store
    }

    /// The tries of a page, and its rows; the body is called between two tries.
    ///
    /// One key suffices for one step. Tries have the same keys, unless they are those of one request.
    private static func read(
        _ store: FeedStore,
        _ query: PageQuery,
        keyCount: Int = 1,
        ofOneRequest: Bool = false,
        between: () throws -> Void = {}
    ) throws -> (tryCount: Int, ids: [PostID]) {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: keyCount)
        var tryCount = 1
        while try store.page(query, into: &page, allowance: &allowance) == .again {
            if ofOneRequest {
                allowance.renew()
            } else {
                allowance = RefreshAllowance(keyCount: keyCount)
            }
            try between()
            tryCount += 1
            try #require(tryCount < 10_000, "A page never ends.")
        }
        return (tryCount, page.ids)
    }

    private static func query(
        _ order: Order,
        _ window: Window? = nil,
        at rank: UInt64 = 1
    ) -> PageQuery {
        var query = PageQuery(feed: feed, order: order, window: window, size: 10)
        if rank > 1 { query.start = .rank(rank) }
        return query
    }

    @Test(
        arguments: [
            (Order.best, nil), (.controversial, nil), (.rising, nil), (.discussed, nil),
            (.top, .month), (.discussed, .week),
        ] as [(Order, Window?)],
        [1, 600] as [UInt64]
    )
    func aListIsBuiltInStepsThatNoLockHolderExceeds(
        list: (order: Order, window: Window?),
        rank: UInt64
    ) throws {
        let stepwise = try Self.store(stepPostCount: 50)
        let query = Self.query(list.order, list.window, at: rank)
        var tryCount = 0
        let steps = try Self.read(stepwise, query) {
            tryCount += 1
            if tryCount % 10 == 0 { stepwise.checkInvariants() }
        }
        // Each try looks at 50 posts: first at those that join, then at those that are fresh.
        #expect(steps.tryCount > 2 * Self.postCount / 50)
        let whole = try Self.store(stepPostCount: 50)
        let once = try Self.read(whole, query, keyCount: .max)
        #expect(once.tryCount == 1)
        #expect(steps.ids == once.ids)
        stepwise.checkInvariants()
        // A list that is ready is read at once.
        #expect(try Self.read(stepwise, query).tryCount == 1)
    }

    /// A step costs 12 keys here: it looks at 50 posts, and none is in the window.
    @Test(arguments: [12, 13, 36, 37, 100, 2_000])
    func aTryMakesTheStepsThatItsKeysAllow(keyCount: Int) throws {
        func tryCount(keyCount: Int, ofOneRequest: Bool) throws -> Int {
            let feed = try ListedFeed(postCount: 2_000, stripeCount: 1, stepPostCount: 50)
            feed.clock.milliseconds.wrappingAdd(Window.hour.milliseconds, ordering: .relaxed)
            let query = Self.query(.top, .hour)
            let page = try Self.read(
                feed.store,
                query,
                keyCount: keyCount,
                ofOneRequest: ofOneRequest
            )
            #expect(page.ids == [])
            return page.tryCount
        }
        let stepCount = try tryCount(keyCount: 1, ofOneRequest: false)
        #expect(stepCount > 2_000 / 50)
        // Each try has twice the keys of the one before, up to sixteen times the first one's.
        var (expected, left, keys) = (0, stepCount, keyCount)
        while left > 0 {
            left -= (keys + 11) / 12
            keys = min(2 * keys, 16 * keyCount)
            expected += 1
        }
        #expect(try tryCount(keyCount: keyCount, ofOneRequest: true) == expected)
    }

    /// Votes, new posts and deletions while a list is built.
    @Test(arguments: [1, 600] as [UInt64])
    func aBuildTakesInWhatChangesMeanwhile(rank: UInt64) throws {
        let store = try Self.store(stepPostCount: 40)
        var random = SeededGenerator(seed: 9)
        var page = PostPage()
        var deleted: Set<PostID> = []
        let query = Self.query(.top, .year, at: rank)
        let built = try Self.read(store, query) {
            for _ in 0..<10 {
                let id = PostID(rawValue: UInt64.random(in: 1...2_000, using: &random))
                if !deleted.contains(id) { _ = try store.castVote(id, .up) }
            }
            let id = PostID(rawValue: UInt64.random(in: 1...2_000, using: &random))
            if deleted.insert(id).inserted { try store.deletePost(id) }
            page.removeAll()
            try store.createPost(PostContent(title: "new"), in: Self.feed, into: &page)
            store.checkInvariants()
        }
        #expect(built.tryCount > 100)
        let changes = try Self.read(store, query).ids
        #expect(changes == built.ids)
        // The same posts in another store, whose list is built at once.
        let other = FeedStore(stripeCount: 1) { 1_700_000_000_000 }
        store.forEachPost { post in try? other.restore(post) }
        #expect(try Self.read(other, query, keyCount: .max).ids == built.ids)
    }

    /// Posts that all leave a window at once leave it in steps, too.
    @Test func aWindowEmptiesInSteps() throws {
        let feed = try ListedFeed(postCount: 1_000, stripeCount: 1, stepPostCount: 50)
        let query = Self.query(.top, .hour)
        #expect(try Self.read(feed.store, query, keyCount: .max).ids.count == 10)
        feed.clock.milliseconds.wrappingAdd(Window.hour.milliseconds, ordering: .relaxed)
        let last = try feed.create()
        let emptied = try Self.read(feed.store, query) { feed.store.checkInvariants() }
        #expect(emptied.ids == [last])
        #expect(emptied.tryCount > 1_000 / 50)
    }

    /// A list over all feeds numbers the pieces of slots that have posts.
    ///
    /// It would look at 16 million slots if it numbered the slots.
    @Test func skippedIDsCostAListNothing() throws {
        let feed = try ListedFeed(postCount: 40)
        try feed.store.restore(lastID: 1 << 24, revision: feed.store.revision)
        var ids: [PostID] = []
        for _ in 0..<40 { ids.append(try feed.create()) }
        for id in ids { _ = try feed.store.castVote(id, .up) }
        let query = PageQuery(feed: nil, order: .best, size: 100)
        let page = try Self.read(feed.store, query, keyCount: RankingLimits.firstTryKeyCount)
        #expect(page.tryCount == 1)
        #expect(Set(page.ids.prefix(40)) == Set(ids))
        #expect(page.ids.count == 80)
        for id in ids.prefix(20) { try feed.store.deletePost(id) }
        for id in ids.suffix(10) { _ = try feed.store.castVote(id, .up) }
        let later = try Self.read(feed.store, query, keyCount: RankingLimits.firstTryKeyCount)
        #expect(Set(later.ids.prefix(10)) == Set(ids.suffix(10)))
        #expect(later.ids.count == 60)
    }

    @Test func votesBetweenStepsDoNotKeepARankFromItsEnd() throws {
        let store = try Self.store(stepPostCount: 50, stripeCount: 4)
        var random = SeededGenerator(seed: 11)
        let query = Self.query(.best, at: 1_000)
        let deep = try Self.read(store, query, ofOneRequest: true) {
            for _ in 0..<20 {
                let id = PostID(rawValue: UInt64.random(in: 1...2_000, using: &random))
                _ = try store.castVote(id, .up)
            }
        }
        #expect(deep.ids.count == 10)
    }

    /// Votes behind the head of a list are not looked at for its first page.
    @Test func votesBehindTheHeadCostAFirstPageLittle() throws {
        let store = try Self.store(stepPostCount: 8_192)
        let query = Self.query(.best)
        _ = try Self.read(store, query)
        let page = try Self.read(store, query)
        // Posts without upvotes come last in BEST, and a downvote leaves them there.
        for number in 1...UInt64(Self.postCount) {
            _ = try store.castVote(PostID(rawValue: number), .down)
        }
        var allowance = RefreshAllowance(keyCount: 1_000_000)
        var rows = PostPage()
        #expect(try store.page(query, into: &rows, allowance: &allowance) == .done)
        // Each post is looked at once, for a quarter of a key; those of the head move. To look at all
        // of them for the list too would take another quarter.
        let used = 1_000_000 - allowance.remainingKeyCount
        #expect(used < Self.postCount / 2, "\(used) keys")
        #expect(page.ids.count == 10)
        store.checkInvariants()
    }
}
