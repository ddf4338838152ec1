import FeedConcurrency
import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

@Suite struct StablePageTests {
    private static func list(_ feed: ListedFeed, _ order: Order) throws -> [PostID] {
        let walk = try feed.walk(PageQuery(feed: ListedFeed.feed, order: order, size: 100))
        return walk.live
    }

    @Test(arguments: Order.allCases, [7, 100])
    func votesDoNotMoveThePagesOfASnapshot(order: Order, size: Int) throws {
        let feed = try ListedFeed(postCount: 400)
        var random = SeededGenerator(seed: UInt64(size))
        for _ in 0..<300 {
            let id = PostID(rawValue: UInt64.random(in: 1...400, using: &random))
            _ = try feed.store.castVote(id, .up)
        }
        let before = try Self.list(feed, order)
        let walk = try feed.walk(feed.stable(order, size: size)) {
            for _ in 0..<20 {
                let id = PostID(rawValue: UInt64.random(in: 1...400, using: &random))
                _ = try feed.store.castVote(id, .up)
            }
            try feed.create()
        }
        #expect(walk.stable == before)
        #expect(walk.live.isEmpty)
    }

    @Test func aListIsStableForItsFirstThousandPostsAndThenLive() throws {
        let feed = try ListedFeed(postCount: 3_000, stripeCount: 16)
        let before = try Self.list(feed, .top)
        let walk = try feed.walk(feed.stable(size: 100))
        #expect(walk.stable == Array(before[..<1_000]))
        #expect(walk.stable + walk.live == before)
    }

    @Test func aStripeWithAllOfTheFirstPostsIsReadWhole() throws {
        let feed = try ListedFeed(postCount: 6_000, stripeCount: 4)
        for slot in 1...1_000 {
            _ = try feed.store.castVote(PostID(rawValue: UInt64(4 * slot)), .up)
        }
        let walk = try feed.walk(feed.stable(size: 100))
        let expected: [PostID] = (1...1_000).map { PostID(rawValue: 4 * $0) }
        #expect(walk.stable == expected)
    }

    @Test func walksBackAsItWalkedThere() throws {
        let feed = try ListedFeed(postCount: 95)
        let first = try feed.read(feed.stable(.new, size: 10))
        var (pages, query) = ([first], feed.stable(.new, size: 10))
        while let next = pages.last?.next {
            query.start = .cursor(next)
            pages.append(try feed.read(query))
            try feed.create()
        }
        let ranks: [UInt64] = [1, 11, 21, 31, 41, 51, 61, 71, 81, 91]
        #expect(pages.map(\.firstRank) == ranks)
        #expect(pages.last?.rows.count == 5)
        var back = [pages[9]]
        while let previous = back.last?.previous {
            query.start = .cursor(previous)
            back.append(try feed.read(query))
        }
        #expect(back.reversed().map(\.ids) == pages.map(\.ids))
        #expect(back.map(\.firstRank) == pages.reversed().map(\.firstRank))
    }

    @Test func beginsAtARankOrAroundAPost() throws {
        let feed = try ListedFeed(postCount: 1_500)
        var query = feed.stable(.old, size: 10)
        query.start = .rank(501)
        #expect(try feed.read(query).ids.first == PostID(rawValue: 501))
        query.start = .around(PostID(rawValue: 501))
        let page = try feed.read(query)
        #expect(page.isStable && page.firstRank == 496)
        #expect(page.ids == (496..<506).map { PostID(rawValue: $0) })
        query.start = .rank(1_200)
        let deep = try feed.read(query)
        #expect(!deep.isStable && deep.firstRank == 1_200)
        query.start = .around(PostID(rawValue: 1_200))
        #expect(try feed.read(query).isStable == false)
    }

    @Test func postsThatAreGoneAreLeftOut() throws {
        let feed = try ListedFeed(postCount: 30)
        var query = feed.stable(.old, size: 10)
        let first = try feed.read(query)
        for id in 11...25 { _ = try feed.store.deletePost(PostID(rawValue: UInt64(id))) }
        query.start = .cursor(try #require(first.next))
        let second = try feed.read(query)
        #expect(second.ids == (26...30).map { PostID(rawValue: $0) })
        #expect(second.firstRank == 26 && second.next == nil)
    }

    @Test func aChangeOfTheCallerIsSeen() throws {
        let feed = try ListedFeed(postCount: 20)
        #expect(try feed.read(feed.stable(.new)).isStable)
        let id = try feed.create()
        let revision = feed.store.revision
        // Others join the snapshot; the caller gets the list as it is until there may be another.
        let other = try feed.read(feed.stable(.new, atMillisecond: 249))
        #expect(other.isStable && other.ids.first != id)
        let own = try feed.read(feed.stable(.new, from: revision, atMillisecond: 249))
        #expect(!own.isStable && own.ids.first == id)
        let later = try feed.read(feed.stable(.new, from: revision, atMillisecond: 250))
        #expect(later.isStable && later.ids.first == id)
    }

    @Test func aTokenOfASnapshotThatIsTooOldContinuesAsOfNow() throws {
        let feed = try ListedFeed(postCount: 50)
        var query = feed.stable(.old, size: 10)
        let first = try feed.read(query)
        #expect(first.snapshotRevision == feed.store.revision)
        query.start = .cursor(try #require(first.next))
        query.minimumRevision = feed.store.revision
        #expect(try feed.read(query).snapshotRevision == first.snapshotRevision)
        try feed.create()
        query.minimumRevision = feed.store.revision
        let page = try feed.read(query)
        #expect(page.snapshotRevision == nil && page.firstRank == 11 && page.totalCount == 51)
    }

    /// The clock of the store holds the caller up that takes the snapshot.
    @Test func whoWaitsForTheSnapshotOfAnotherHasUsedNothingUp() throws {
        let (taking, finish) = (Semaphore(), Semaphore())
        let isHeld = Locked(false)
        let store = FeedStore(stripeCount: 4) {
            let holdsUp = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if holdsUp {
                taking.signal()
                finish.wait()
            }
            return 1_700_000_000_000
        }
        var query = PageQuery(feed: ListedFeed.feed, order: .top, size: 10)
        query.stability = .stable(from: 0)
        isHeld.withLock { $0 = true }
        let other = NamedThread("taker")
        try other.start { [query] in
            var page = PostPage()
            var allowance = RefreshAllowance()
            _ = try? store.page(query, into: &page, allowance: &allowance)
        }
        taking.wait()
        var page = PostPage()
        var allowance = RefreshAllowance()
        for _ in 0..<3 {
            #expect(try store.page(query, into: &page, allowance: &allowance) == .wait)
        }
        #expect(allowance.remainingKeyCount == RefreshAllowance().remainingKeyCount)
        finish.signal()
        other.join()
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.isStable)
    }

    @Test func anUnchangedStoreKeepsItsSnapshot() throws {
        let feed = try ListedFeed(postCount: 20)
        _ = try feed.read(feed.stable())
        _ = try feed.read(feed.stable(atMillisecond: 60_000))
        #expect(feed.store.snapshotUsage.count == 1)
        try feed.create()
        _ = try feed.read(feed.stable(atMillisecond: 60_000))
        #expect(feed.store.snapshotUsage.count == 2)
    }

    @Test func aDroppedSnapshotContinuesLive() throws {
        let feed = try ListedFeed(postCount: 50)
        var query = feed.stable(.old, size: 10)
        let first = try feed.read(query)
        feed.store.expireSnapshots(now: ListedFeed.instant(119_999))
        query.start = .cursor(try #require(first.next))
        #expect(try feed.read(query).isStable)
        feed.store.expireSnapshots(now: ListedFeed.instant(120_000))
        #expect(feed.store.snapshotUsage == (0, 0))
        let live = try feed.read(query)
        #expect(!live.isStable && live.firstRank == 11)
        #expect(live.ids == (11...20).map { PostID(rawValue: $0) })
        // The page after it is live, too, and the walk ends.
        #expect(try feed.walk(query).live.count == 40)
    }
}

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

extension PostPage {
    /// What is wrong with the order of the rows, or with their ids; nil where nothing is.
    func disorder(_ order: Order) -> String? {
        if Set(rows.map(\.id)).count != rows.count { return "\(order): an id came twice" }
        if order == .rising { return risingDisorder }
        for (left, right) in zip(rows, rows.dropFirst()) where !precedes(left, right, order) {
            return "\(order): \(left) before \(right)"
        }
        return nil
    }

    /// A row has no sum of RISING, so the keys must do.
    private var risingDisorder: String? {
        for place in rows.indices.dropFirst() {
            let (left, right) = (rowKeys[place - 1].primary, rowKeys[place].primary)
            let isInOrder = left < right || (left == right && rows[place - 1].id < rows[place].id)
            if !isInOrder { return "rising: \(rows[place - 1]) before \(rows[place])" }
        }
        return nil
    }

    private func precedes(_ left: PostRow, _ right: PostRow, _ order: Order) -> Bool {
        switch order {
        case .top:
            if left.score != right.score { return left.score > right.score }
            let (leftTitle, rightTitle) = (bytes(left.title), bytes(right.title))
            if leftTitle != rightTitle { return leftTitle.lexicographicallyPrecedes(rightTitle) }
            return left.id < right.id
        case .new: return Self.isOlder(right, left)
        case .old: return Self.isOlder(left, right)
        case .hot:
            let (leftRank, rightRank) = (Self.hotRank(left), Self.hotRank(right))
            return leftRank != rightRank ? leftRank > rightRank : left.id < right.id
        case .best:
            let (leftKey, rightKey) = (Self.confidence(left), Self.confidence(right))
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .controversial:
            let (leftKey, rightKey) = (Self.controversy(left), Self.controversy(right))
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        case .rising: return true
        case .discussed:
            let (leftKey, rightKey) = (left.commentCount, right.commentCount)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        }
    }

    private static func confidence(_ row: PostRow) -> Double {
        ConfidenceRank.value(upvoteCount: row.upvoteCount, downvoteCount: row.downvoteCount)
    }

    private static func controversy(_ row: PostRow) -> Double {
        ControversyRank.value(upvoteCount: row.upvoteCount, downvoteCount: row.downvoteCount)
    }

    private static func isOlder(_ left: PostRow, _ right: PostRow) -> Bool {
        (left.createTimeMilliseconds, left.id) < (right.createTimeMilliseconds, right.id)
    }

    private static func hotRank(_ row: PostRow) -> Int64 {
        HotRank.key(score: row.score, createTimeMilliseconds: row.createTimeMilliseconds)
    }
}

/// A store with a clock and a monotonic time of its own, and reads of its pages.
final class ListedFeed: Sendable {
    static let feed = FeedID(rawValue: 0)

    let clock = TestClock()
    let store: FeedStore

    /// A feed of posts, with a time each millisecond.
    init(postCount: Int, stripeCount: Int = 4, stepPostCount: Int? = nil) throws {
        let clock = clock
        var pace = RefreshPace()
        pace.sideStepPostCount = stepPostCount ?? pace.sideStepPostCount
        store = FeedStore(stripeCount: stripeCount, pace: pace) {
            clock.milliseconds.load(ordering: .relaxed)
        }
        for _ in 0..<postCount { try create() }
    }

    /// Creates a post a millisecond after the one before.
    @discardableResult
    func create(authorID: UInt64 = 0, title: String = "") throws -> PostID {
        tick()
        var page = PostPage()
        let content = PostContent(authorID: authorID, title: title)
        try store.createPost(content, in: Self.feed, into: &page)
        return page.rows[0].id
    }

    func tick() { clock.milliseconds.wrappingAdd(1, ordering: .relaxed) }

    /// Reads a page whole, however often it has to be asked for.
    func read(_ query: PageQuery) throws(RankingError) -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        while try store.page(query, into: &page, allowance: &allowance) != .done {}
        return page
    }

    /// The first page of a walk, from a snapshot if there is one.
    func stable(
        _ order: Order = .top,
        size: Int = 10,
        from revision: UInt64 = 0,
        atMillisecond now: Int = 0
    ) -> PageQuery {
        var query = PageQuery(feed: Self.feed, order: order, size: size)
        query.stability = .stable(from: revision)
        query.now = Self.instant(now)
        return query
    }

    /// Walks from a page to the end of the list.
    ///
    /// - Returns: The ids of the stable pages, and the ids of the pages after the switch to live.
    func walk(
        _ first: PageQuery,
        between: () throws -> Void = {}
    ) throws -> (stable: [PostID], live: [PostID]) {
        var (stable, live): ([PostID], [PostID]) = ([], [])
        var query = first
        while true {
            let page = try read(query)
            if page.isStable { stable += page.rows.map(\.id) } else { live += page.rows.map(\.id) }
            guard let next = page.next else { return (stable, live) }
            query.start = .cursor(next)
            try between()
        }
    }

    static func instant(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }
}

extension PostPage {
    var ids: [PostID] { rows.map(\.id) }
}
