import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

@Suite struct NewerPostsTests {
    private func refresh(_ page: PostPage, _ order: Order, size: Int = 10) throws -> PageQuery {
        let cursor = PageCursor(
            feed: ListedFeed.feed,
            order: order,
            direction: .newer,
            position: try #require(page.refreshPlace),
            rank: 0
        )
        return PageQuery(feed: ListedFeed.feed, order: order, size: size, start: .cursor(cursor))
    }

    @Test(arguments: Order.allCases, [false, true])
    func aRefreshBringsTheNewerPostsWithoutAGap(order: Order, isStable: Bool) throws {
        let feed = try ListedFeed(postCount: 40)
        feed.tick()
        var query = PageQuery(feed: ListedFeed.feed, order: order, size: 10)
        if isStable { query = feed.stable(order) }
        var page = try feed.read(query)
        #expect(page.newerCount == 0)
        feed.tick()
        let created = try (0..<25).map { _ in try feed.create() }
        feed.tick()
        var brought: [PostID] = []
        for left in [15, 5, 0] {
            page = try feed.read(try refresh(page, order))
            brought += order == .old ? page.ids : page.ids.reversed()
            #expect(page.newerCount == UInt64(left))
            #expect(page.next == nil && page.previous == nil)
        }
        #expect(brought == created)
        page = try feed.read(try refresh(page, order))
        #expect(page.rows.isEmpty && page.newerCount == 0)
    }

    @Test func postsOfTheMillisecondOfTheReadComeAgain() throws {
        let feed = try ListedFeed(postCount: 3)
        // The newest post has the time of now: another one with this time may follow.
        let page = try feed.read(PageQuery(feed: ListedFeed.feed, order: .new, size: 10))
        #expect(try feed.read(try refresh(page, .new)).ids == [PostID(rawValue: 3)])
        feed.tick()
        let later = try feed.read(try refresh(page, .new))
        #expect(later.ids == [PostID(rawValue: 3)])
        #expect(try feed.read(try refresh(later, .new)).rows.isEmpty)
    }

    @Test func postsNewerThanAPostAreThoseOfItsMillisecondToo() throws {
        let feed = try ListedFeed(postCount: 5)
        var page = PostPage()
        // With the same time as the post before.
        try feed.store.createPost(PostContent(), in: ListedFeed.feed, into: &page)
        let last = try feed.create()
        func newer(_ id: UInt64, size: Int = 10) throws -> PostPage {
            try feed.read(
                PageQuery(
                    feed: ListedFeed.feed,
                    order: .new,
                    size: size,
                    start: .newerThan(PostID(rawValue: id))
                )
            )
        }
        #expect(try newer(5).ids == [last, PostID(rawValue: 6)])
        #expect(try newer(6).ids == [last, PostID(rawValue: 5)])
        #expect(try newer(last.rawValue).rows.isEmpty)
        let one = try newer(3, size: 1)
        #expect(one.ids == [PostID(rawValue: 4)] && one.newerCount == 3)
        #expect(throws: RankingError.postNotInList(PostID(rawValue: 99))) { try newer(99) }
    }

    /// The post of the place is before the window, so it is no post of the walk.
    @Test func aWindowHasItsOwnNewerPosts() throws {
        let feed = try ListedFeed(postCount: 3)
        feed.clock.milliseconds.wrappingAdd(2 * 3_600_000, ordering: .relaxed)
        let created = try (0..<21).map { _ in try feed.create() }
        var query = PageQuery(feed: ListedFeed.feed, order: .top, window: .hour, size: 20)
        query.start = .newerThan(PostID(rawValue: 1))
        let page = try feed.read(query)
        #expect(page.ids == created[..<20].reversed())
        #expect(page.newerCount == 1 && page.totalCount == 21)
        query.start = .newerThan(created[4])
        let within = try feed.read(query)
        #expect(within.ids == created[5...].reversed())
        #expect(within.newerCount == 0 && within.totalCount == 21)
    }

    @Test func importsOfThePastAreNotNewer() throws {
        let feed = try ListedFeed(postCount: 5)
        let page = try feed.read(PageQuery(feed: ListedFeed.feed, order: .new, size: 10))
        feed.tick()
        let old = ImportedPost(content: PostContent(), createTimeMilliseconds: 12)
        _ = try feed.store.importPosts([old], in: ListedFeed.feed)
        #expect(try feed.read(try refresh(page, .new)).ids == [PostID(rawValue: 5)])
    }

    /// Posts are created by four threads while one refreshes; it misses none.
    @Test(arguments: [1, 16])
    func refreshesMissNoPostThatIsCreatedConcurrently(stripeCount: Int) async throws {
        let feed = try ListedFeed(postCount: 1, stripeCount: stripeCount)
        let count = TestEnvironment.modelOperations(8_000) / 4
        let first = try feed.read(PageQuery(feed: ListedFeed.feed, order: .new, size: 10))
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<count {
                        var page = PostPage()
                        try feed.store.createPost(PostContent(), in: ListedFeed.feed, into: &page)
                        if number % 8 == 0 {
                            feed.tick()
                        }
                    }
                }
            }
            var page = first
            var seen = Set(first.ids)
            while feed.store.postCount < UInt64(4 * count + 1) {
                page = try feed.read(try refresh(page, .new, size: 100))
                seen.formUnion(page.ids)
                // Two readers that never wait would take the whole pool of tasks of two cores.
                await Task.yield()
            }
            try await group.waitForAll()
            feed.tick()
            repeat {
                page = try feed.read(try refresh(page, .new, size: 100))
                seen.formUnion(page.ids)
            } while page.newerCount > 0
            return seen
        }
        #expect(seen.count == 4 * count + 1)
    }
}
