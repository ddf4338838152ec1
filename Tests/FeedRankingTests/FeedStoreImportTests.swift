import FeedRanking
import Testing

@Suite struct FeedStoreImportTests {
    private static let feed = FeedID(rawValue: 0)
    private static let now: Int64 = 1_700_000_000_000

    private static func post(
        _ title: String,
        time: Int64,
        ups: UInt64 = 0,
        downs: UInt64 = 0
    ) -> ImportedPost {
        ImportedPost(
            content: PostContent(title: title),
            createTimeMilliseconds: time,
            upvoteCount: ups,
            downvoteCount: downs
        )
    }

    private static func titles(_ store: FeedStore, _ order: Order) throws -> [String] {
        var page = PostPage()
        var allowance = RefreshAllowance()
        let outcome = try store.page(
            PageQuery(feed: feed, order: order, size: 100),
            into: &page,
            allowance: &allowance
        )
        #expect(outcome == .done)
        return page.rows.map { String(decoding: page.bytes($0.title), as: UTF8.self) }
    }

    /// Orders that were built before, and others that are built after, show the same.
    @Test(arguments: [false, true])
    func ordersByWhatPostsBring(isBuiltBefore: Bool) throws {
        let store = FeedStore(stripeCount: 4) { Self.now }
        var page = PostPage()
        try store.createPost(PostContent(title: "created"), in: Self.feed, into: &page)
        if isBuiltBefore {
            for order in Order.allCases { _ = try Self.titles(store, order) }
        }
        let outcome = try store.importPosts(
            [
                Self.post("future", time: Self.now + 300_000),
                Self.post("epoch", time: 0, ups: 9),
                Self.post("past", time: Self.now - 1, ups: 5, downs: 6),
                Self.post("much liked", time: 1, ups: 1 << 53, downs: 0),
            ],
            in: Self.feed
        )
        #expect(outcome.firstID == PostID(rawValue: 2))
        #expect(outcome.revision == 5)
        #expect(store.postCount == 5)
        let newest = ["future", "created", "past", "much liked", "epoch"]
        #expect(try Self.titles(store, .new) == newest)
        #expect(try Self.titles(store, .old) == newest.reversed())
        #expect(
            try Self.titles(store, .top) == ["much liked", "epoch", "created", "future", "past"]
        )
        #expect(
            try Self.titles(store, .hot) == ["future", "created", "past", "much liked", "epoch"]
        )
        store.checkInvariants()
    }

    @Test func addsVotesToImportedCounts() throws {
        let store = FeedStore(stripeCount: 1) { Self.now }
        let outcome = try store.importPosts(
            [Self.post("a", time: 5, ups: 3, downs: 1)],
            in: Self.feed
        )
        let vote = try store.castVote(outcome.firstID, .down)
        #expect((vote.upvoteCount, vote.downvoteCount, vote.score) == (3, 2, 1))
    }

    @Test func leavesTheClockAlone() throws {
        let store = FeedStore(stripeCount: 1) { Self.now }
        try store.importPosts([Self.post("future", time: Self.now + 300_000)], in: Self.feed)
        var page = PostPage()
        try store.createPost(PostContent(title: "created"), in: Self.feed, into: &page)
        #expect(page.rows[0].createTimeMilliseconds == Self.now)
        try store.post(PostID(rawValue: 1), into: &page)
        #expect(page.rows[1].updateTimeMilliseconds == Self.now + 300_000)
    }

    @Test func asksForRefreshOnceAStripe() throws {
        let store = FeedStore(stripeCount: 4) { Self.now }
        let count = 4 * RankingLimits.minimumStaleCount + 8
        let posts = (0..<count).map { Self.post("\($0)", time: Int64($0)) }
        let due = try store.importPosts(posts, in: Self.feed).refreshDue
        #expect(Set(due.map { $0.rawValue % 4 }).count == 4)
        #expect(due.count == 4)
        for id in due { store.refresh(stripeOf: id) }
        #expect(try store.importPosts([posts[0]], in: Self.feed).refreshDue.isEmpty)
    }

    @Test func needsAFeed() {
        let store = FeedStore(stripeCount: 1) { Self.now }
        let nowhere = FeedID(rawValue: 9)
        #expect(throws: RankingError.feedNotFound(nowhere)) {
            try store.importPosts([Self.post("a", time: 0)], in: nowhere)
        }
        #expect(store.postCount == 0)
    }
}
