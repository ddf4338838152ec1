import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

@Suite struct FilteredPageTests {
    private static let viewer = VoterID(rawValue: 3)

    /// Random posts of few authors with random votes and marks, in lists with a random filter.
    private struct Sample {
        let feed: ListedFeed
        var random: SeededGenerator
        var authors: [PostID: UInt64] = [:]

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            feed = try ListedFeed(
                postCount: 0,
                stripeCount: [1, 4, 16].randomElement(using: &random) ?? 1
            )
            for _ in 0..<Int.random(in: 1...900, using: &random) {
                let author = UInt64.random(in: 0...3, using: &random)
                authors[try feed.create(authorID: author)] = author
            }
            for id in authors.keys.sorted() {
                if random.oneIn(3) { _ = try feed.store.castVote(id, .up) }
                if random.oneIn(3) { try mark(id, .read) }
                if random.oneIn(3) { try mark(id, .dismissed) }
            }
        }

        private func mark(_ id: PostID, _ mark: Mark) throws {
            try feed.store.mark([id], as: mark, by: viewer)
        }

        mutating func filter() -> (PageFilter, ViewerMarks?) {
            var filter = PageFilter()
            filter.authorID = UInt64.random(in: 0...4, using: &random)
            filter.isUnreadOnly = random.oneIn(2)
            filter.includesDismissed = random.oneIn(2)
            return (filter, random.oneIn(5) ? nil : feed.store.marks(of: viewer))
        }

        func passes(_ row: PostRow, _ filter: PageFilter, _ marks: ViewerMarks?) -> Bool {
            guard filter.authorID == 0 || authors[row.id] == filter.authorID else { return false }
            let origin = PostOrigin(
                id: row.id,
                feed: row.feed,
                createTimeMilliseconds: row.createTimeMilliseconds
            )
            let state = marks?.state(of: origin) ?? ViewerState()
            return !(filter.isUnreadOnly && state.isRead)
                && (filter.includesDismissed || !state.isDismissed)
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...20), [false, true])
    func aFilteredWalkHasThePostsThatPassInOrder(seed: UInt64, isStable: Bool) throws {
        var sample = try Sample(seed: seed)
        for order in Order.allCases {
            let all = PageQuery(feed: ListedFeed.feed, order: order, size: 100)
            var (rows, query) = ([PostRow](), all)
            while true {
                let page = try sample.feed.read(query)
                rows += page.rows
                guard let next = page.next else { break }
                query.start = .cursor(next)
            }
            let (filter, marks) = sample.filter()
            let ranks = rows.indices.filter { sample.passes(rows[$0], filter, marks) }
            try compare(sample, filter, marks, rows, ranks, order, isStable: isStable)
        }
    }

    /// Walks there and back, and compares ids and ranks.
    private func compare(
        _ sample: Sample,
        _ filter: PageFilter,
        _ marks: ViewerMarks?,
        _ rows: [PostRow],
        _ expected: [Int],
        _ order: Order,
        isStable: Bool
    ) throws {
        var random = sample.random
        var query = PageQuery(
            feed: ListedFeed.feed,
            order: order,
            size: Int.random(in: 1...60, using: &random)
        )
        query.filter = filter
        query.marks = marks
        if isStable { query.stability = .stable(from: 0) }
        var there: [PostPage] = []
        repeat {
            if let next = there.last?.next { query.start = .cursor(next) }
            there.append(try sample.feed.read(query))
        } while there.last?.next != nil
        #expect(there.flatMap(\.ids) == expected.map { rows[$0].id }, "\(order)")
        check(there, rows)
        var back = [try #require(there.last)]
        while let previous = back.last?.previous {
            query.start = .cursor(previous)
            back.append(try sample.feed.read(query))
        }
        #expect(back.reversed().flatMap(\.ids) == expected.map { rows[$0].id }, "\(order) back")
        check(back, rows)
    }

    private func check(_ pages: [PostPage], _ rows: [PostRow]) {
        for page in pages {
            #expect(page.totalCount == UInt64(rows.count))
            guard let first = page.rows.first else { continue }
            let rank = (rows.firstIndex { $0.id == first.id } ?? -1) + 1
            #expect(page.firstRank == UInt64(rank))
        }
    }

    @Test func aPageLooksAtSoManyPostsAndNoMore() throws {
        let feed = try ListedFeed(postCount: 0)
        let limit = RankingLimits.maximumScanCount
        let posts = (0..<2 * limit).map { number in
            ImportedPost(
                content: PostContent(authorID: number == 2 * limit - 1 ? 7 : 0),
                createTimeMilliseconds: Int64(number)
            )
        }
        let last =
            try feed.store.importPosts(posts, in: ListedFeed.feed).firstID.rawValue
            + UInt64(posts.count) - 1
        var query = PageQuery(feed: ListedFeed.feed, order: .old, size: 10)
        query.filter.authorID = 7
        let first = try feed.read(query)
        #expect(first.rows.isEmpty)
        query.start = .cursor(try #require(first.next))
        let second = try feed.read(query)
        #expect(second.ids == [PostID(rawValue: last)] || second.rows.isEmpty)
        #expect(try feed.walk(query).live == [PostID(rawValue: last)])
    }

    /// A thread moves posts between the front and the end of TOP while pages of few posts are read.
    @Test func aPostThatMovesBehindThePageComesOnce() async throws {
        let feed = try ListedFeed(postCount: 0)
        for number in 0..<2_000 { try feed.create(authorID: number % 50 == 0 ? 7 : 0) }
        let moving = (0..<40).map { PostID(rawValue: UInt64($0 * 50 + 1)) }
        let isOver = Locked(false)
        async let voting: Void = offload {
            var turn = 0
            while !isOver.withLock({ $0 }) {
                for id in moving { _ = try feed.store.castVote(id, turn % 4 < 2 ? .up : .down) }
                turn += 1
            }
        }
        var query = PageQuery(feed: ListedFeed.feed, order: .top, size: 100)
        query.filter.authorID = 7
        var repeated = 0
        for _ in 0..<TestEnvironment.modelOperations(500) {
            let ids = try feed.read(query).ids
            if Set(ids).count < ids.count { repeated += 1 }
        }
        isOver.withLock { $0 = true }
        try await voting
        #expect(repeated == 0)
    }

    @Test func readingAPageDoesNotMakeTheNextOneSkip() throws {
        let feed = try ListedFeed(postCount: 100)
        var query = feed.stable(.old, size: 10)
        query.filter.isUnreadOnly = true
        var ids: [PostID] = []
        while true {
            query.marks = feed.store.marks(of: Self.viewer)
            let page = try feed.read(query)
            ids += page.ids
            try feed.store.mark(page.ids, as: .read, by: Self.viewer)
            guard let next = page.next else { break }
            query.start = .cursor(next)
        }
        #expect(ids == (1...100).map { PostID(rawValue: $0) })
    }
}

/// What those who watch posts read of the store.
@Suite struct FirstPostsTests {
    private static func first(
        _ feed: ListedFeed,
        _ order: Order,
        _ window: Window? = nil,
        count: Int = 100,
        in id: FeedID? = ListedFeed.feed,
        filter: PageFilter? = nil,
        viewer: VoterKey? = nil
    ) -> FirstPosts {
        var first = FirstPosts()
        var allowance = RefreshAllowance(keyCount: .max)
        while !feed.store.readFirstPosts(
            of: id,
            order,
            window,
            count: count,
            filter: filter,
            viewer: viewer,
            into: &first,
            allowance: &allowance
        ) { allowance.renew() }
        return first
    }

    @Test(arguments: 1...8)
    func thoseWithAFilterAreThoseOfThePageWithIt(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let feed = try ListedFeed(postCount: 0)
        for _ in 0..<600 { try feed.create(authorID: UInt64.random(in: 0...9, using: &random)) }
        let viewer = VoterKey.user(9)
        let voter = try feed.store.voter(for: viewer)
        for round in 0..<20 {
            let ids = (0..<50).map { _ in
                PostID(rawValue: UInt64.random(in: 1...600, using: &random))
            }
            let mark = Mark.allCases.randomElement(using: &random) ?? .read
            if random.oneIn(8) {
                try feed.store.mark(through: ids[0], in: nil, as: mark, by: voter)
            } else {
                try feed.store.mark(ids, as: mark, by: voter)
            }
            var query = PageQuery(
                feed: ListedFeed.feed,
                order: Order.allCases.randomElement(using: &random) ?? .top,
                size: Int.random(in: 1...100, using: &random)
            )
            query.filter.authorID = random.oneIn(2) ? UInt64.random(in: 0...9, using: &random) : 0
            query.filter.isUnreadOnly = random.oneIn(2)
            query.filter.includesDismissed = random.oneIn(2)
            query.marks = feed.store.marks(of: voter)
            let first = Self.first(
                feed,
                query.order,
                count: query.size,
                filter: query.filter,
                viewer: viewer
            )
            #expect(try feed.read(query).ids == first.posts.map(\.id), "round \(round)")
        }
    }

    @Test func aFilterLooksAtSoManyPostsAndNoMore() throws {
        let feed = try ListedFeed(postCount: 0)
        let limit = RankingLimits.maximumScanCount
        let posts = (0...limit).map { number in
            ImportedPost(
                content: PostContent(authorID: number == 0 ? 7 : number == 1 ? 8 : 0),
                createTimeMilliseconds: Int64(number)
            )
        }
        try feed.store.importPosts(posts, in: ListedFeed.feed)
        var filter = PageFilter()
        filter.authorID = 7
        let beyond = Self.first(feed, .new, filter: filter)
        #expect(beyond.posts.isEmpty && beyond.lookCount == 200 + 1_600 + limit)
        filter.authorID = 8
        #expect(Self.first(feed, .new, filter: filter).posts.count == 1)
        // As many as are asked for are found near the front.
        filter.authorID = 0
        #expect(Self.first(feed, .new, filter: filter).lookCount == 100)
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
                        if number % 8 == 0 { feed.tick() }
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

/// What reads of the first posts cost while posts behind them wait in the stale tail.
@Suite struct HeadBoundaryTests {
    private static let feeds = [FeedID(rawValue: 0), FeedID(rawValue: 1)]
    private static let orders = [Order.top, .hot]

    /// A store with posts in a feed, of which the first `leaderCount` have scores of their own: the first
    /// post has the greatest, and all others have 0.
    private static func store(
        stripeCount: Int,
        postCount: Int,
        leaderCount: Int,
        _ pace: RefreshPace = RefreshPace()
    ) throws -> FeedStore {
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 1_700_000_000_000 }
        var page = PostPage()
        for number in 1...postCount {
            try store.createPost(PostContent(title: "title"), in: feeds[0], into: &page)
            for _ in 0..<max(0, leaderCount + 1 - number) {
                _ = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            }
        }
        for order in orders { _ = try read(store, order, .first, size: 4) }
        return store
    }

    private static func voteDown(_ store: FeedStore, _ numbers: Range<Int>) throws {
        for number in numbers { _ = try store.castVote(PostID(rawValue: UInt64(number)), .down) }
    }

    /// The keys that the first pages of 100 took from an allowance, one page after another.
    private static func walk(
        _ store: FeedStore,
        feed: FeedID = feeds[0],
        _ order: Order,
        pageCount: Int
    ) throws -> [Int] {
        var page = PostPage()
        var start = PageQuery.Start.first
        return try (0..<pageCount).map { number in
            var allowance = RefreshAllowance(keyCount: 1_000_000)
            let query = PageQuery(feed: feed, order: order, size: 100, start: start)
            #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
            #expect(page.rows.count == 100)
            if number + 1 < pageCount { start = .cursor(try #require(page.next)) }
            return 1_000_000 - allowance.remainingKeyCount
        }
    }

    /// The keys that a page took from an allowance.
    private static func read(
        _ store: FeedStore,
        feed: FeedID = feeds[0],
        _ order: Order,
        _ start: PageQuery.Start,
        size: Int
    ) throws -> Int {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: 1_000_000)
        let query = PageQuery(feed: feed, order: order, size: size, start: start)
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.count == size)
        return 1_000_000 - allowance.remainingKeyCount
    }

    @Test(arguments: [(1, 300), (4, 300), (8, 400), (16, 400), (16, 1_000)])
    func aFirstPageOfTheLargestSizeLeavesTheTail(stripeCount: Int, postCount: Int) throws {
        let store = try Self.store(
            stripeCount: stripeCount,
            postCount: postCount,
            leaderCount: postCount
        )
        try Self.voteDown(store, postCount * 4 / 5..<postCount)
        for order in Self.orders { #expect(try Self.read(store, order, .first, size: 100) == 0) }
        // The tail was stale.
        let refreshed = try Self.read(store, .top, .rank(UInt64(postCount - 9)), size: 10)
        #expect(refreshed >= postCount / 5)
    }

    /// The stale tail is the stripe's, so its length decides, not that of the feed.
    @Test func noPageOfAShortFeedPaysForALongOne() throws {
        let store = try Self.store(stripeCount: 1, postCount: 4_000, leaderCount: 600)
        var page = PostPage()
        for _ in 1...300 {
            try store.createPost(PostContent(title: "title"), in: Self.feeds[1], into: &page)
        }
        for order in Self.orders {
            _ = try Self.read(store, feed: Self.feeds[1], order, .first, size: 4)
        }
        try Self.voteDown(store, 2_000..<3_500)
        for order in Self.orders {
            let taken = try Self.walk(store, feed: Self.feeds[1], order, pageCount: 3)
            #expect(taken == [0, 0, 0])
        }
        #expect(try Self.read(store, .top, .rank(2_001), size: 10) >= 1_500)
    }

    /// An index that a job has split has few of its keys, and keeps its head boundary all the same.
    @Test func readsOfTheHeadLeaveAJobAlone() throws {
        var pace = RefreshPace()
        pace.minimumStaleCount = 500
        pace.wholePostCount = 0
        pace.stepKeyCount = 100
        let store = try Self.store(stripeCount: 1, postCount: 4_000, leaderCount: 600, pace)
        try Self.voteDown(store, 1_000..<3_900)
        var stepCount = 0
        while try store.castVote(PostID(rawValue: 4_000), .down).refreshIsDue, stepCount < 1_000 {
            store.refresh(stripeOf: PostID(rawValue: 1))
            _ = try store.castVote(PostID(rawValue: 1), .up)
            for order in Self.orders {
                // The first page moves the leader, which has a vote.
                let taken = try Self.walk(store, order, pageCount: 5)
                #expect(taken[0] <= 1 && taken.dropFirst() == [0, 0, 0, 0], "step \(stepCount)")
            }
            stepCount += 1
        }
        #expect(stepCount > 10 && stepCount < 1_000)
    }
}
