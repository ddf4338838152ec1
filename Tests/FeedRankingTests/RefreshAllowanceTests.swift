import FeedRanking
import FeedTestSupport
import Testing

/// Requests whose every try finds all posts stale again.
@Suite struct RefreshAllowanceTests {
    private static let feed = FeedID(rawValue: 0)
    private static let postCount = 1_600
    private static let middle = PostID(rawValue: 800)
    private static let keyCount = 128

    /// A request that needs every stripe refreshed.
    enum Request: CaseIterable {
        case rank
        case pageAtRank
        case pageAround
    }

    private static func store() throws -> FeedStore {
        let store = FeedStore(stripeCount: 16) { 1_700_000_000_000 }
        var page = PostPage()
        for number in 0..<postCount {
            page.removeAll()
            try store.createPost(PostContent(title: "title \(number)"), in: feed, into: &page)
        }
        var allowance = RefreshAllowance(keyCount: .max)
        let query = PageQuery(feed: feed, order: .top, size: 20)
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        return store
    }

    /// One try; whether the request ended.
    private static func attempt(
        _ request: Request,
        _ store: FeedStore,
        _ allowance: inout RefreshAllowance
    ) throws -> Bool {
        var query = PageQuery(feed: feed, order: .top, size: 20)
        switch request {
        case .rank: return try store.rank(of: middle, order: .top, allowance: &allowance) != .again
        case .pageAtRank: query.start = .rank(UInt64(postCount / 2))
        case .pageAround: query.start = .around(middle)
        }
        var page = PostPage()
        return try store.page(query, into: &page, allowance: &allowance) == .done
    }

    private static func voteOnAll(_ store: FeedStore) throws {
        for number in 1...postCount {
            _ = try store.castVote(PostID(rawValue: UInt64(number)), .up)
        }
    }

    @Test(arguments: Request.allCases)
    func endsARequestDespiteVotesBetweenItsTries(request: Request) throws {
        let store = try Self.store()
        var allowance = RefreshAllowance(keyCount: Self.keyCount)
        var tryCount = 0
        var isDone = false
        while !isDone && tryCount < 20 {
            try Self.voteOnAll(store)
            if tryCount > 0 { allowance.renew() }
            isDone = try Self.attempt(request, store, &allowance)
            tryCount += 1
        }
        // 128 keys doubled four times are more than there are posts.
        #expect(isDone && tryCount <= 5, "\(tryCount) tries")
        store.checkInvariants()
    }

    /// Shows the need of the renewal: with as many keys each try, the same request never ends.
    @Test(arguments: Request.allCases)
    func doesNotEndARequestWithoutRenewal(request: Request) throws {
        let store = try Self.store()
        for _ in 0..<50 {
            try Self.voteOnAll(store)
            var allowance = RefreshAllowance(keyCount: Self.keyCount)
            #expect(try !Self.attempt(request, store, &allowance))
        }
    }

    @Test func doublesUpToTheLargestNumber() {
        var allowance = RefreshAllowance(keyCount: 3)
        allowance.renew()
        #expect(allowance.remainingKeyCount == 6)
        for _ in 0..<100 { allowance.renew() }
        #expect(allowance.remainingKeyCount == .max)
    }
}
