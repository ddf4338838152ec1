import FeedRanking
import FeedTestSupport
import Testing

/// What those who watch posts read of the store.
@Suite struct FirstPostsTests {
    private static func first(
        _ feed: ListedFeed,
        _ order: Order,
        _ window: Window? = nil,
        count: Int = 100,
        in id: FeedID? = ListedFeed.feed
    ) -> FirstPosts {
        var first = FirstPosts()
        var allowance = RefreshAllowance(keyCount: .max)
        while !feed.store.readFirstPosts(
            of: id,
            order,
            window,
            count: count,
            into: &first,
            allowance: &allowance
        ) { allowance.renew() }
        return first
    }

    @Test(arguments: Order.allCases, [1, 20, 100])
    func areThoseOfTheFirstPage(order: Order, count: Int) throws {
        let feed = try ListedFeed(postCount: 300)
        var random = SeededGenerator(seed: UInt64(count))
        for round in 0..<10 {
            for _ in 0..<100 {
                let id = PostID(rawValue: UInt64.random(in: 1...300, using: &random))
                _ = try? feed.store.castVote(id, random.oneIn(3) ? .down : .up)
            }
            try feed.store.deletePost(PostID(rawValue: UInt64(round + 1)))
            for window in [nil, order.allowsWindow ? Window.day : nil] {
                let page = try feed.read(
                    PageQuery(feed: ListedFeed.feed, order: order, window: window, size: count)
                )
                let first = Self.first(feed, order, window, count: count)
                #expect(first.posts.map(\.id) == page.ids)
                #expect(first.posts.map(\.revision) == page.rows.map(\.revision))
                #expect(first.posts.map(\.score) == page.rows.map(\.score))
                #expect(first.revision == feed.store.revision)
            }
        }
    }

    @Test func editsAreToldFromVotes() throws {
        let feed = try ListedFeed(postCount: 1)
        let id = PostID(rawValue: 1)
        let created = feed.store.revision
        _ = try feed.store.castVote(id, .up)
        let voted = Self.first(feed, .top).posts[0]
        #expect(voted.editRevision == created && voted.revision == created + 1)
        var page = PostPage()
        var changes = PostChanges()
        changes.title = "new"
        try feed.store.updatePost(id, changes, into: &page)
        let edited = Self.first(feed, .top).posts[0]
        #expect(edited.editRevision == created + 2 && edited.revision == created + 2)
    }

    @Test func creationsAreCountedForTheFeedAndForAllFeeds() throws {
        let feed = try ListedFeed(postCount: 10)
        try feed.store.deletePost(PostID(rawValue: 3))
        #expect(Self.first(feed, .top).createdCount == 10)
        let other = try #require(feed.store.feed(named: "tweets"))
        var page = PostPage()
        try feed.store.createPost(PostContent(title: "t"), in: other, into: &page)
        #expect(Self.first(feed, .top).createdCount == 10)
        #expect(Self.first(feed, .top, in: other).createdCount == 1)
        #expect(Self.first(feed, .top, in: nil).createdCount == 11)
    }

    @Test func numbersOfDeletedPostsAreMissing() throws {
        let feed = try ListedFeed(postCount: 3)
        let ids = [1, 2, 3, 4].map { PostID(rawValue: $0) }
        try feed.store.deletePost(ids[1])
        _ = try feed.store.castVote(ids[2], .up)
        var numbers: [PostNumbers?] = []
        feed.store.readNumbers(of: ids, into: &numbers)
        #expect(numbers.map { $0?.score } == [0, nil, 1, nil])
    }
}
