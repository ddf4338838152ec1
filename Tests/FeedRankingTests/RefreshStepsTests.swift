import FeedOrders
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

/// The state machine by itself, without a store.
@Suite struct RefreshJobTests {
    private static let first = FeedID(rawValue: 3)
    private static let last = FeedID(rawValue: 7)

    /// Posts with score 0, of which the members of a job have fallen to a score of -10.
    private struct Posts: ~Copyable {
        var table = PostTable()
        var pool = NodePool()

        init(count: Int) {
            for slot in 0..<UInt32(count) {
                let record = PostRecord(
                    content: ContentBlob(PostContent(), updateTimeMilliseconds: 0, editRevision: 1),
                    feed: slot < 4 ? RefreshJobTests.first : RefreshJobTests.last,
                    voteMode: .tally,
                    createTimeMilliseconds: 0,
                    revision: 1
                )
                table.insert(record, at: slot)
            }
        }

        func job(_ memberSlots: [UInt32]) -> RefreshJob {
            var job = RefreshJob()
            job.begin(members(memberSlots))
            return job
        }

        func members(_ memberSlots: [UInt32]) -> Slab<StalePost> {
            var members = Slab<StalePost>()
            for slot in memberSlots {
                var record = table[slot]
                record.flags.insert(.isIndexed)
                record.downvoteCount = 10
                members.append(StalePost(slot, record))
            }
            return members
        }

        mutating func index(_ keys: [RankKey]) -> RankedIndex {
            var index = RankedIndex()
            for key in keys { index.insert(key, &pool, table) }
            return index
        }

        func keys(_ index: RankedIndex) -> [RankKey] {
            var position = index.position(atRank: 0, pool)
            var keys: [RankKey] = []
            while let key = index.key(at: position, pool) {
                keys.append(key)
                index.advance(&position, pool)
            }
            return keys
        }
    }

    private static func key(_ slot: UInt32, score: Int64) -> RankKey {
        RankKey(primary: OrderKey.descending(score), secondary: 0, slot: slot)
    }

    private static func sorted(_ keys: [RankKey]) -> Slab<RankKey> {
        var slab = Slab<RankKey>()
        for key in keys { slab.append(key) }
        return slab
    }

    @Test func passesTheListsInTheOrderOfFeedsAndKinds() {
        let posts = Posts(count: 8)
        var job = posts.job([1, 2, 5])
        var lists: [RefreshJob.List] = []
        while let list = job.list {
            #expect(job.progress(list.feed, list.kind) == .waiting)
            for earlier in lists {
                #expect(job.progress(earlier.feed, earlier.kind) == .refreshed)
            }
            lists.append(list)
            job.leaveList()
        }
        let feeds: [FeedID?] = [Self.first, Self.last, nil]
        #expect(lists.map(\.feed) == feeds.flatMap { [$0, $0, $0] })
        #expect(lists.map(\.kind) == [.top, .new, .hot, .top, .new, .hot, .top, .new, .hot])
        #expect(lists.map(\.places) == [0..<2, 2..<3, 0..<3].flatMap { [$0, $0, $0] })
        let isIdle = job.isIdle
        let postCount = job.postCount
        #expect(isIdle && postCount == 0)
        #expect(job.progress(nil, .hot) == .refreshed)
    }

    @Test func tellsTheProgressWithListsThatHaveNoMembers() {
        let posts = Posts(count: 8)
        var job = posts.job([5])
        #expect(job.progress(Self.first, .hot) == .refreshed)
        #expect(job.progress(FeedID(rawValue: 9), .top) == .waiting)
        #expect(job.progress(nil, .top) == .waiting)
        for _ in 0..<3 { job.leaveList() }
        #expect(job.progress(FeedID(rawValue: 9), .top) == .refreshed)
        #expect(job.progress(nil, .top) == .waiting)
    }

    @Test func letsMembersLeave() {
        let posts = Posts(count: 8)
        var job = posts.job([1, 2, 5])
        #expect(job.hasMember(2) && job.member(2, Self.first)?.newScore == -10)
        #expect(job.member(2, Self.last) == nil && !job.hasMember(3) && !job.hasMember(1_000))
        #expect(job.member(at: 1)?.slot == 2)
        job.remove(2)
        #expect(!job.hasMember(2) && job.member(2, Self.first) == nil && job.member(at: 1) == nil)
        #expect(job.member(5, Self.last)?.slot == 5)
    }

    /// The keys of the first list, with slots 0 to 3 at score 0, of which 1 and 2 fall to -10.
    @Test(arguments: [1, 100])
    func mergesTheNewKeysAndDropsTheOld(limit: Int) {
        var posts = Posts(count: 4)
        var job = posts.job([1, 2])
        let old = posts.index((0..<4).map { Self.key($0, score: 0) } + [Self.key(3, score: -20)])
        job.split(old, merging: Self.sorted([Self.key(1, score: -10), Self.key(2, score: -10)]))
        #expect(job.progress(Self.first, .top) == .split)
        #expect(job.progress(Self.first, .new) == .waiting)
        var index = RankedIndex()
        while !job.merge(limit, into: &index, &posts.pool, posts.table) {}
        job.leaveList()
        #expect(job.progress(Self.first, .top) == .refreshed)
        let expected = [(0, 0), (3, 0), (1, -10), (2, -10), (3, -20)] as [(UInt32, Int64)]
        #expect(posts.keys(index) == expected.map { Self.key($0.0, score: $0.1) })
        index.checkInvariants(posts.pool, posts.table)
    }

    @Test func keepsTheOldKeysOfAnOrderThatVotesDoNotMove() {
        var posts = Posts(count: 4)
        var job = posts.job([1])
        job.leaveList()
        job.split(posts.index([Self.key(1, score: 0)]), merging: Self.sorted([]))
        var index = RankedIndex()
        #expect(job.merge(10, into: &index, &posts.pool, posts.table))
        #expect(posts.keys(index) == [Self.key(1, score: 0)])
    }

    @Test func leavesOutTheKeysOfPostsThatHaveLeft() {
        var posts = Posts(count: 4)
        var job = posts.job([1, 2])
        let old = posts.index([Self.key(0, score: 0), Self.key(1, score: 0), Self.key(2, score: 0)])
        job.split(old, merging: Self.sorted([Self.key(1, score: -10), Self.key(2, score: -10)]))
        #expect(job.removeBehindMerged(Self.key(1, score: 0), &posts.pool, posts.table))
        #expect(!job.removeBehindMerged(Self.key(1, score: 0), &posts.pool, posts.table))
        job.remove(1)
        job.insertBehindMerged(Self.key(1, score: -5), &posts.pool, posts.table)
        var index = RankedIndex()
        #expect(job.merge(100, into: &index, &posts.pool, posts.table))
        let expected = [(0, 0), (1, -5), (2, -10)] as [(UInt32, Int64)]
        #expect(posts.keys(index) == expected.map { Self.key($0.0, score: $0.1) })
    }

    @Test func trapsOnATransitionThatTheStateDoesNotHave() async {
        await #expect(processExitsWith: .failure) {
            var job = RefreshJob()
            job.leaveList()
        }
        await #expect(processExitsWith: .failure) {
            var job = RefreshJob()
            job.begin(Slab())
        }
        await #expect(processExitsWith: .failure) {
            let posts = Posts(count: 2)
            var job = posts.job([1])
            job.begin(posts.members([0]))
        }
        await #expect(processExitsWith: .failure) {
            var job = Posts(count: 2).job([1])
            job.remove(0)
        }
        await #expect(processExitsWith: .failure) {
            var posts = Posts(count: 2)
            var job = posts.job([1])
            var index = RankedIndex()
            _ = job.merge(1, into: &index, &posts.pool, posts.table)
        }
        await #expect(processExitsWith: .failure) {
            var posts = Posts(count: 2)
            var job = posts.job([1])
            job.insertBehindMerged(RefreshJobTests.key(0, score: 0), &posts.pool, posts.table)
        }
        await #expect(processExitsWith: .failure) {
            var job = Posts(count: 2).job([1])
            job.split(RankedIndex(), merging: Slab())
            job.split(RankedIndex(), merging: Slab())
        }
        await #expect(processExitsWith: .failure) {
            var posts = Posts(count: 2)
            var job = posts.job([1])
            let index = posts.index([RefreshJobTests.key(0, score: 0)])
            job.split(index, merging: Slab())
            job.leaveList()
        }
    }
}

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
