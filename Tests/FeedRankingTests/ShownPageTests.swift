import FeedRanking
import Testing

/// Which first pages stand as long as the shown version does, with heads of 16 posts a stripe.
@Suite struct ShownPageTests {
    private static let feed = FeedID(rawValue: 0)

    /// A store whose post n has a score.
    private static func store(
        stripeCount: Int,
        postCount: Int = 200,
        score: (UInt64) -> UInt64
    ) throws -> FeedStore {
        var pace = RefreshPace()
        pace.headPostCount = 1
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 1_700_000_000_000 }
        let posts = (1...UInt64(postCount)).map { number in
            ImportedPost(
                content: PostContent(title: "title"),
                createTimeMilliseconds: Int64(number),
                upvoteCount: score(number),
                downvoteCount: 0
            )
        }
        try store.importPosts(posts, in: feed)
        return store
    }

    private static func page(_ store: FeedStore, _ order: Order, _ size: Int) throws -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        let query = PageQuery(feed: feed, order: order, size: size)
        _ = try store.page(query, into: &page, allowance: &allowance)
        return page
    }

    @Test("a vote behind the head changes a longer page, and not the version")
    func aLongPageIsNotShown() throws {
        let store = try Self.store(stripeCount: 1) { 10 * (300 - $0) }
        #expect(try Self.page(store, .top, 10).isShown)
        let before = try Self.page(store, .top, 100)
        #expect(!before.isShown)
        let version = store.shownVersion(of: Self.feed)
        _ = try store.castVote(PostID(rawValue: 50), .up)
        #expect(store.shownVersion(of: Self.feed) == version)
        #expect(try Self.page(store, .top, 100).rows != before.rows)
        _ = try store.castVote(PostID(rawValue: 5), .up)
        #expect(store.shownVersion(of: Self.feed) > version)
        #expect(store.shownVersion(of: nil) > 0)
    }

    @Test("a page that takes more than its share of one stripe is not shown")
    func aSkewedPageIsNotShown() throws {
        let even = try Self.store(stripeCount: 4) { 10 * (300 - $0) }
        #expect(try Self.page(even, .top, 20).isShown)
        let skewed = try Self.store(stripeCount: 4) { $0 % 4 == 1 ? 1000 + $0 : $0 }
        #expect(try !Self.page(skewed, .top, 20).isShown)
    }

    @Test("OLD reads from the other end, which no head covers unless the list is short")
    func theOtherEndIsNotShown() throws {
        let long = try Self.store(stripeCount: 1) { $0 }
        #expect(try Self.page(long, .new, 10).isShown)
        #expect(try !Self.page(long, .old, 10).isShown)
        let short = try Self.store(stripeCount: 1, postCount: 12) { $0 }
        #expect(try Self.page(short, .old, 10).isShown)
    }

    @Test("lists that are made on demand are not shown")
    func sideListsAreNotShown() throws {
        let store = try Self.store(stripeCount: 1) { $0 }
        #expect(try !Self.page(store, .best, 10).isShown)
    }
}
