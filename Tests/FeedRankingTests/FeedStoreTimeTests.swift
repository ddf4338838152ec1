import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

/// The times that posts get, and their correction.
@Suite struct FeedStoreTimeTests {
    private static let feed = FeedID(rawValue: 0)
    private static let now: Int64 = 1_700_000_000_000
    private static let year: Int64 = 365 * 86_400_000

    /// Makes a post at a time of the clock; returns the time that it got.
    private static func create(_ title: String, _ store: FeedStore) throws -> Int64 {
        var page = PostPage()
        try store.createPost(PostContent(title: title), in: feed, into: &page)
        return page.rows[0].createTimeMilliseconds
    }

    private static func titles(_ store: FeedStore, _ order: Order) throws -> [String] {
        var page = PostPage()
        var allowance = RefreshAllowance()
        let query = PageQuery(feed: feed, order: order, size: 100)
        let outcome = try store.page(query, into: &page, allowance: &allowance)
        #expect(outcome == .done)
        return page.rows.map { String(decoding: page.bytes($0.title), as: UTF8.self) }
    }

    @Test func timesStandStillForFiveMinutesAndNoLonger() throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 2) { clock.milliseconds.load(ordering: .relaxed) }
        let first = try Self.create("a", store)
        clock.milliseconds.wrappingSubtract(300_000, ordering: .relaxed)
        #expect(try Self.create("b", store) == first)
        clock.milliseconds.wrappingSubtract(1, ordering: .relaxed)
        #expect(try Self.create("c", store) == first - 300_001)
        clock.milliseconds.wrappingAdd(5, ordering: .relaxed)
        #expect(try Self.create("d", store) == first - 299_996)
        #expect(try Self.titles(store, .new) == ["b", "a", "d", "c"])
    }

    @Test func timesStayWithinTheirBounds() throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 2) { clock.milliseconds.load(ordering: .relaxed) }
        for (time, expected) in [
            (Int64.min, 0), (-1, 0), (.max, RankingLimits.maximumTimeMilliseconds),
        ] {
            clock.milliseconds.store(time, ordering: .relaxed)
            #expect(try Self.create("a", store) == expected)
        }
    }

    /// A clock ten years ahead stamps a post and an edit; then it is right.
    @Test(arguments: [false, true])
    func aCorrectionMovesThePostInEveryOrder(isBuiltBefore: Bool) throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 4) { clock.milliseconds.load(ordering: .relaxed) }
        _ = try Self.create("old", store)
        _ = try Self.create("edited", store)
        clock.milliseconds.wrappingAdd(10 * Self.year, ordering: .relaxed)
        _ = try Self.create("future", store)
        var page = PostPage()
        let edit = PostChanges(text: "later")
        try store.updatePost(PostID(rawValue: 2), edit, into: &page)
        clock.milliseconds.wrappingSubtract(10 * Self.year - 1_000, ordering: .relaxed)
        _ = try Self.create("new", store)
        if isBuiltBefore {
            for order in Order.allCases { _ = try Self.titles(store, order) }
            #expect(try Self.titles(store, .new) == ["future", "new", "edited", "old"])
        }
        let bound = Self.now + 300_000
        #expect(store.countPosts(after: bound) == 2)
        let found = store.postsAhead(
            of: bound,
            behind: PostID(rawValue: 0),
            idCount: 100,
            postCount: 100,
            correctingTo: Self.now + 500
        )
        #expect(found.posts.map(\.title) == ["edited", "future"])
        #expect(found.posts.map(\.createTimeMilliseconds) == [Self.now, Self.now + 10 * Self.year])
        #expect(found.next == nil)
        #expect(found.revision == store.revision)
        #expect(try Self.titles(store, .new) == ["new", "future", "edited", "old"])
        #expect(try Self.titles(store, .old) == ["old", "edited", "future", "new"])
        #expect(try Self.titles(store, .hot) == ["new", "old", "edited", "future"])
        page.removeAll()
        for id in 1...4 as ClosedRange<UInt64> { try store.post(PostID(rawValue: id), into: &page) }
        let late = Self.now + 500
        #expect(
            page.rows.map(\.createTimeMilliseconds) == [Self.now, Self.now, late, Self.now + 1_000]
        )
        #expect(
            page.rows.map(\.updateTimeMilliseconds) == [Self.now, late, late, Self.now + 1_000]
        )
        #expect(store.countPosts(after: bound) == 0)
        store.checkInvariants()
    }

    @Test func theSearchGoesOnWhereItEnded() throws {
        let store = FeedStore(stripeCount: 2) { Self.now }
        for number in 0..<10 { _ = try Self.create("\(number)", store) }
        try store.deletePost(PostID(rawValue: 4))
        var ids: [UInt64] = []
        var next: PostID? = PostID(rawValue: 0)
        var count = 0
        while let start = next {
            let part = store.postsAhead(of: 0, behind: start, idCount: 3, postCount: 2)
            ids += part.posts.map(\.id.rawValue)
            next = part.next
            count += 1
        }
        #expect(ids == [1, 2, 3, 5, 6, 7, 8, 9, 10])
        #expect(count == 5)
        let laterPosts = store.postsAhead(
            of: 0,
            behind: PostID(rawValue: .max),
            idCount: .max,
            postCount: 1
        )
        #expect(laterPosts.posts.isEmpty && laterPosts.next == nil)
        // After so many bytes of texts there is nothing more, but always one post.
        let short = store.postsAhead(
            of: 0,
            behind: PostID(rawValue: 0),
            idCount: 9,
            postCount: 9,
            textByteCount: 2
        )
        #expect(short.posts.count == 2 && short.next == PostID(rawValue: 2))
    }
}
