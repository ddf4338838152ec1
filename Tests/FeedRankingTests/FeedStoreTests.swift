import FeedRanking
import Testing

@Suite struct FeedStoreTests {
    private static let feed = FeedID(rawValue: 0)

    private static func store(_ postCount: Int) throws -> FeedStore {
        let store = FeedStore(stripeCount: 1) { 1_700_000_000_000 }
        var page = PostPage()
        for number in 0..<postCount {
            page.removeAll()
            try store.createPost(PostContent(title: "title \(number)"), in: feed, into: &page)
        }
        return store
    }

    @Test func asksForRefreshUntilItIsDone() throws {
        let count = RankingLimits.minimumStaleCount
        let store = try Self.store(count)
        let id = PostID(rawValue: 1)
        #expect(try store.castVote(id, .up).refreshIsDue)
        #expect(try store.castVote(id, .up).refreshIsDue)
        store.refresh(stripeOf: id)
        #expect(try !store.castVote(id, .up).refreshIsDue)
        // One stale post is too few for a refresh: it stays stale.
        store.refresh(stripeOf: id)
        for number in 2..<count {
            let outcome = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            #expect(!outcome.refreshIsDue)
        }
        #expect(try store.castVote(PostID(rawValue: UInt64(count)), .up).refreshIsDue)
        store.checkInvariants()
    }

    @Test func asksForRefreshOnceItsShareOfManyPostsIsStale() throws {
        let limit = 3 * RankingLimits.minimumStaleCount
        let store = try Self.store(RankingLimits.staleShare * limit)
        var allowance = RefreshAllowance(keyCount: .max)
        _ = try store.rank(of: PostID(rawValue: 1), order: .top, allowance: &allowance)
        for number in 1..<limit {
            let outcome = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            #expect(!outcome.refreshIsDue)
        }
        #expect(try store.castVote(PostID(rawValue: UInt64(limit)), .up).refreshIsDue)
    }

    @Test func knowsTheFeedOfAPost() throws {
        let store = try Self.store(1)
        let other = try store.createFeed(FeedPolicy(name: "other"))
        var page = PostPage()
        try store.createPost(PostContent(title: "of another"), in: other, into: &page)
        #expect(try store.feed(of: PostID(rawValue: 1)) == Self.feed)
        #expect(try store.feed(of: PostID(rawValue: 2)) == other)
        try store.deletePost(PostID(rawValue: 2))
        #expect(throws: RankingError.postNotFound(PostID(rawValue: 2))) {
            try store.feed(of: PostID(rawValue: 2))
        }
    }

    @Test func clearsNoBallotWithoutAVoter() throws {
        let store = try Self.store(0)
        let feed = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot))
        var page = PostPage()
        try store.createPost(PostContent(title: "title"), in: feed, into: &page)
        let id = page.rows[0].id
        let voted = try store.castVote(id, .up, voter: store.voter(forDevice: (1, 2)))
        #expect(voted.standingVote == .up)
        let cleared = try store.castVote(id, .clear)
        #expect(cleared.standingVote == nil && cleared.score == 1)
        #expect(cleared.revision == voted.revision && store.revision == voted.revision)
        #expect(throws: RankingError.voterRequired) {
            try store.castVote(id, .down)
        }
    }

    @Test(arguments: Order.allCases)
    func leadsBackFromAPageBeyondTheEnd(order: Order) throws {
        let store = try Self.store(5)
        var page = PostPage()
        var allowance = RefreshAllowance()
        var query = PageQuery(feed: Self.feed, order: order, size: 3, start: .rank(1_000))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.isEmpty && page.next == nil && page.firstRank == 6)
        query.start = .cursor(try #require(page.previous))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.count == 3 && page.firstRank == 3 && page.next == nil)
        // Nothing is left before the page that this token leads to.
        query.start = .cursor(try #require(page.previous))
        for row in page.rows { try store.deletePost(row.id) }
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.count == 2 && page.firstRank == 1 && page.previous == nil)
    }

    @Test(arguments: Order.allCases)
    func leadsOnFromAPageBeforeTheStart(order: Order) throws {
        let store = try Self.store(4)
        var page = PostPage()
        var allowance = RefreshAllowance()
        var query = PageQuery(feed: Self.feed, order: order, size: 2)
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        let first = page.rows.map(\.id)
        query.start = .cursor(try #require(page.next))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        let second = page.rows.map(\.id)
        query.start = .cursor(try #require(page.previous))
        for id in first { try store.deletePost(id) }
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.isEmpty && page.previous == nil && page.firstRank == 1)
        query.start = .cursor(try #require(page.next))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.map(\.id) == second && page.firstRank == 1)
    }
}
