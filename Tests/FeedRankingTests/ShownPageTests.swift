import FeedRanking
import FeedRankingModel
import Synchronization
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

    private static func query(_ order: Order, _ size: Int) -> PageQuery {
        PageQuery(feed: feed, order: order, size: size)
    }

    private static func page(_ store: FeedStore, _ query: PageQuery) throws -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        _ = try store.page(query, into: &page, allowance: &allowance)
        return page
    }

    private static func page(_ store: FeedStore, _ order: Order, _ size: Int) throws -> PostPage {
        try page(store, query(order, size))
    }

    @Test("a vote behind the head changes a longer page, and no page that is shown")
    func aLongPageIsNotShown() throws {
        let store = try Self.store(stripeCount: 1) { 10 * (300 - $0) }
        let (short, long) = (Self.query(.top, 10), Self.query(.top, 100))
        let moment = store.moment(of: short)
        let (head, all) = (try Self.page(store, short), try Self.page(store, long))
        #expect(head.isShown && !all.isShown)
        _ = try store.castVote(PostID(rawValue: 50), .up)
        #expect(PageLife(of: head, readAt: moment).has(store.moment(of: short)))
        #expect(!PageLife(of: all, readAt: moment).has(store.moment(of: long)))
        #expect(try Self.page(store, long).rows != all.rows)
        _ = try store.castVote(PostID(rawValue: 5), .up)
        #expect(!PageLife(of: head, readAt: moment).has(store.moment(of: short)))
    }

    @Test("a further page is shown if it ends in the head")
    func aFurtherPageIsShown() throws {
        let store = try Self.store(stripeCount: 1) { 10 * (300 - $0) }
        var query = Self.query(.top, 5)
        for isShown in [true, true, false] {
            query.start = .cursor(try #require(try Self.page(store, query).next))
            #expect(try Self.page(store, query).isShown == isShown, "\(query.start)")
        }
    }

    @Test("a page stays shown if the posts of other feeds are deleted")
    func theHeadDoesNotShrink() throws {
        let store = FeedStore(stripeCount: 16) { 1_700_000_000_000 }
        let post = ImportedPost(
            content: PostContent(title: "title"),
            createTimeMilliseconds: 1,
            upvoteCount: 0,
            downvoteCount: 0
        )
        try store.importPosts(
            (0..<640).map { number in
                var post = post
                post.upvoteCount = UInt64(10_000 - 10 * number)
                return post
            },
            in: Self.feed
        )
        try store.importPosts(Array(repeating: post, count: 3_000), in: FeedID(rawValue: 1))
        var query = Self.query(.top, 100)
        for _ in 0..<2 { query.start = .cursor(try #require(try Self.page(store, query).next)) }
        let moment = store.moment(of: query)
        let page = try Self.page(store, query)
        #expect(page.isShown)
        for number in 641...3_640 as ClosedRange<UInt64> {
            _ = try store.deletePost(PostID(rawValue: number))
        }
        // Votes on the first posts have the next page set the heads of all stripes anew.
        for number in 1...16 as ClosedRange<UInt64> {
            _ = try store.castVote(PostID(rawValue: number), .up)
        }
        _ = try Self.page(store, .top, 100)
        let later = store.moment(of: query)
        _ = try store.castVote(page.rows[99].id, .up)
        #expect(!PageLife(of: page, readAt: later).has(store.moment(of: query)))
        #expect(!PageLife(of: page, readAt: moment).has(store.moment(of: query)))
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

    @Test("a page of a window stands until a post leaves it, or the clock goes back")
    func aPageOfAWindowEnds() throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 4) { clock.milliseconds.load(ordering: .relaxed) }
        for _ in 0..<20 {
            clock.milliseconds.wrappingAdd(1_000, ordering: .relaxed)
            var made = PostPage()
            _ = try store.createPost(PostContent(title: "title"), in: Self.feed, into: &made)
        }
        var query = Self.query(.top, 5)
        query.window = .hour
        let moment = store.moment(of: query)
        let page = try Self.page(store, query)
        #expect(page.totalCount == 20)
        // The first post leaves 3,600 s after its time, which was 19 s ago.
        clock.milliseconds.wrappingAdd(3_580_999, ordering: .relaxed)
        #expect(PageLife(of: page, readAt: moment).has(store.moment(of: query)))
        clock.milliseconds.wrappingAdd(1, ordering: .relaxed)
        #expect(!PageLife(of: page, readAt: moment).has(store.moment(of: query)))
        let later = store.moment(of: query)
        let fewer = try Self.page(store, query)
        #expect(fewer.totalCount == 19)
        clock.milliseconds.wrappingSubtract(1_000_000, ordering: .relaxed)
        #expect(!PageLife(of: fewer, readAt: later).has(store.moment(of: query)))
        #expect(try Self.page(store, query).totalCount == 20)
    }

    @Test("lists that are made on demand are not shown")
    func sideListsAreNotShown() throws {
        let store = try Self.store(stripeCount: 1) { $0 }
        #expect(try !Self.page(store, .best, 10).isShown)
    }
}
