import FeedRanking
import FeedTestSupport
import Testing

/// A store whose stripe is refreshed in many small steps.
@Suite struct RefreshStepsTests {
    private static let postCount = 4_000
    private static let feeds = [FeedID(rawValue: 0), FeedID(rawValue: 1)]

    /// All posts in both feeds and all orders kept, and half of the posts stale, in the tail.
    private static func store(minimumStaleCount: Int = 500) throws -> FeedStore {
        var pace = RefreshPace()
        pace.minimumStaleCount = minimumStaleCount
        pace.wholePostCount = 0
        pace.stepKeyCount = 100
        pace.headPostCount = 1
        let store = FeedStore(stripeCount: 1, pace: pace) { 1_700_000_000_000 }
        var page = PostPage()
        for number in 1...postCount {
            let content = PostContent(title: "title \(number % 50)")
            try store.createPost(content, in: feeds[number % 2], into: &page)
            // The first hundred lead every list from here on.
            for _ in 0..<(number <= 100 ? 20 : 0) {
                _ = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            }
        }
        for feed in feeds + [nil] {
            for order in Order.allCases { _ = try read(store, feed, order, .first, 4) }
        }
        for number in 1_000..<3_000 {
            _ = try store.castVote(PostID(rawValue: UInt64(number)), .down)
        }
        return store
    }

    /// The keys that a page took from an allowance, and its rows.
    private static func read(
        _ store: FeedStore,
        _ feed: FeedID?,
        _ order: Order,
        _ start: PageQuery.Start,
        _ size: Int
    ) throws -> (refreshed: Int, rows: [PostRow]) {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: 1_000_000)
        let query = PageQuery(feed: feed, order: order, size: size, start: start)
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        return (1_000_000 - allowance.remainingKeyCount, page.rows)
    }

    private static func isDue(_ store: FeedStore) throws -> Bool {
        try store.castVote(PostID(rawValue: 1), .up).refreshIsDue
    }

    @Test func endsAfterManyStepsWithEveryPostInPlace() throws {
        let store = try Self.store()
        var stepCount = 0
        while try Self.isDue(store), stepCount < 10_000 {
            store.refresh(stripeOf: PostID(rawValue: 1))
            stepCount += 1
            if stepCount % 7 == 0 { store.checkInvariants() }
        }
        #expect(stepCount > 20 && stepCount < 10_000, "\(stepCount) steps")
        store.checkInvariants()
        let deep = try Self.read(store, nil, .top, .rank(2_000), 100)
        #expect(deep.rows.count == 100 && deep.rows.last?.score == -1)
        #expect(zip(deep.rows, deep.rows.dropFirst()).allSatisfy { $0.score >= $1.score })
    }

    @Test func leavesTheJobAloneWhereAFirstPageIsRead() throws {
        let store = try Self.store()
        for _ in 0..<5 { store.refresh(stripeOf: PostID(rawValue: 1)) }
        for feed in Self.feeds + [nil] {
            for order in [Order.top, .new, .hot] {
                let page = try Self.read(store, feed, order, .first, 4)
                #expect(page.refreshed == 0 && page.rows.count == 4)
            }
        }
        // A deeper read needs all of it.
        #expect(try Self.read(store, nil, .top, .rank(2_000), 4).refreshed > 500)
        #expect(try Self.read(store, nil, .top, .rank(2_000), 4).refreshed == 0)
    }

    /// Also where a list has just been split, and nothing of it is merged yet.
    @Test func leavesTheJobAloneAfterEveryStep() throws {
        let store = try Self.store()
        for step in 1...150 {
            store.refresh(stripeOf: PostID(rawValue: 1))
            for feed in Self.feeds + [nil] {
                for order in [Order.top, .new, .hot] {
                    let page = try Self.read(store, feed, order, .first, 4)
                    #expect(page.refreshed == 0 && page.rows.count == 4, "step \(step)")
                }
            }
        }
        let isDue = try Self.isDue(store)
        #expect(!isDue)
    }

    /// A job has the whole stale tail when the head empties; behind the boundary its lists are not
    /// exact.
    @Test(arguments: [1, 5, 10])
    func keepsTheHeadBoundariesWhileAJobIsUnderWay(stepCount: Int) throws {
        let store = try Self.store(minimumStaleCount: 2_500)
        for number in 3_000..<3_500 {
            _ = try store.castVote(PostID(rawValue: UInt64(number)), .up)
        }
        for _ in 0..<stepCount { store.refresh(stripeOf: PostID(rawValue: 1)) }
        for number in 1..<99 { try store.deletePost(PostID(rawValue: UInt64(number))) }
        _ = try store.castVote(PostID(rawValue: 99), .up)
        // The first refreshes the stale head; the second reads by the boundary that this left.
        for _ in 0..<2 {
            let rows = try Self.read(store, nil, .top, .first, 4).rows
            #expect(rows.map(\.score) == [21, 20, 1, 1])
        }
        store.checkInvariants()
    }

    /// Posts of another time join NEW behind its head boundary, and a job inserts them.
    @Test(arguments: [1, 10, 25, 40, 60, 80])
    func showsAllPostsOnPagesOneAfterAnother(stepCount: Int) throws {
        let store = try Self.store()
        // With all posts refreshed, the next job begins behind the posts that were voted on.
        _ = try Self.read(store, nil, .top, .rank(2_000), 4)
        for number in 200..<2_600 {
            _ = try store.castVote(PostID(rawValue: UInt64(number)), .down)
        }
        let imported = (1...UInt64(1_000)).map { number in
            let content = PostContent(title: "imported \(number)")
            return ImportedPost(content: content, createTimeMilliseconds: Int64(number * 1_000))
        }
        _ = try store.importPosts(imported, in: Self.feeds[0])
        for _ in 0..<stepCount { store.refresh(stripeOf: PostID(rawValue: 1)) }
        var page = PostPage()
        var query = PageQuery(feed: nil, order: .new, size: 100)
        var ids: [UInt64] = []
        repeat {
            var allowance = RefreshAllowance(keyCount: .max)
            #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
            ids += page.rows.map(\.id.rawValue)
            query.start = page.next.map { .cursor($0) } ?? .first
        } while page.next != nil && ids.count < 10_000
        let expected = Array(UInt64(1)...4_000).reversed() + Array(UInt64(4_001)...5_000).reversed()
        #expect(ids == expected, "\(ids.count) posts")
    }

    /// A job that takes the last slots and continues with the first still finds its posts.
    @Test func letsPostsLeaveAJobThatWentOverTheEnd() throws {
        let store = try Self.store()
        // With all posts refreshed, the next job begins behind the posts that were voted on.
        _ = try Self.read(store, nil, .top, .rank(2_000), 4)
        for number in Array(200..<2_300) + Array(3_500..<3_800) {
            _ = try store.castVote(PostID(rawValue: UInt64(number)), .down)
        }
        store.refresh(stripeOf: PostID(rawValue: 1))
        for number in Array(200..<700) + Array(3_600..<3_700) {
            try store.deletePost(PostID(rawValue: UInt64(number)))
        }
        store.checkInvariants()
        #expect(try Self.read(store, nil, .top, .rank(3_301), 100).rows.count == 100)
        store.checkInvariants()
    }

    /// Posts that are deleted, retitled or rise to the front while a job has them.
    @Test(arguments: [0, 1, 5, 20, 60, 100])
    func letsPostsLeaveAJob(stepCount: Int) throws {
        let store = try Self.store()
        for _ in 0..<stepCount { store.refresh(stripeOf: PostID(rawValue: 1)) }
        var page = PostPage()
        for number in stride(from: UInt64(1_000), to: 3_000, by: 30) {
            try store.deletePost(PostID(rawValue: number))
            let changes = PostChanges(title: "another title \(number)")
            try store.updatePost(PostID(rawValue: number + 1), changes, into: &page)
            for _ in 0..<40 { _ = try store.castVote(PostID(rawValue: number + 2), .up) }
        }
        store.checkInvariants()
        let first = try Self.read(store, nil, .top, .first, 67)
        #expect(first.rows.allSatisfy { $0.score == 39 && $0.id.rawValue % 30 == 12 })
        for _ in 0..<3 { store.refresh(stripeOf: PostID(rawValue: 1)) }
        #expect(try Self.read(store, nil, .top, .rank(3_900), 100).rows.count == 34)
        store.checkInvariants()
    }
}
