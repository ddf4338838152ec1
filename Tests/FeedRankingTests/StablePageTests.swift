import FeedConcurrency
import FeedRanking
import FeedTestSupport
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
