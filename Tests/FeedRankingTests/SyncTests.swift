import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

@Suite struct SyncTests {
    private let clock: TestClock
    private let store: FeedStore

    init() {
        let clock = TestClock()
        self.clock = clock
        store = FeedStore(stripeCount: 2) { clock.milliseconds.load(ordering: .relaxed) }
    }

    private func create(_ count: Int, in feed: UInt32 = 0) throws -> [PostID] {
        let posts = (0..<count).map {
            ImportedPost(content: PostContent(title: "title \($0)"), createTimeMilliseconds: 0)
        }
        let first = try store.importPosts(posts, in: FeedID(rawValue: feed)).firstID.rawValue
        return (0..<UInt64(count)).map { PostID(rawValue: first + $0) }
    }

    /// A page of changes, and its rows.
    private func read(
        from position: SyncPosition,
        feed: FeedID? = nil,
        size: Int = 500,
        byteLimit: Int = .max
    ) throws -> (SyncPage, [PostRow]) {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        let query = SyncQuery(feed: feed, position: position, size: size, byteLimit: byteLimit)
        guard case .done(let read) = store.sync(query, into: &page, allowance: &allowance) else {
            throw Difference(description: "No page.")
        }
        return (read, page.rows)
    }

    @Test(arguments: TestEnvironment.seeds(1...24))
    func copiesAreTheStore(seed: UInt64) throws {
        var run = try SyncRun(seed: seed)
        try run.run(3_000)
        #expect(run.readers.allSatisfy { $0.resetCount > 0 })
    }

    @Test func theModelFindsACopyThatIsKept() throws {
        #expect(throws: (any Error).self) {
            for seed in 1...8 as ClosedRange<UInt64> {
                var run = try SyncRun(seed: seed)
                run.keepsCopies = true
                try run.run(3_000)
            }
        }
    }

    @Test func aPostThatIsVotedOnOftenComesOnce() throws {
        let ids = try create(10)
        let (first, rows) = try read(from: .start)
        #expect(first.isReset && !first.hasMore && first.position.copyRevision == 0)
        #expect(rows.map(\.id) == ids)
        for _ in 0..<100 { _ = try store.castVote(ids[3], .up) }
        let (second, changed) = try read(from: first.position)
        #expect(changed.map(\.id) == [ids[3]])
        #expect(changed[0].score == 100)
        #expect(!second.isReset && !second.hasMore)
        let (third, none) = try read(from: second.position)
        #expect(none.isEmpty && third.position == second.position)
    }

    @Test func deletionsAreKeptForADay() throws {
        let ids = try create(4)
        let (copied, _) = try read(from: .start)
        _ = try store.deletePost(ids[1])
        let day = RankingLimits.tombstoneLifetime
        clock.milliseconds.wrappingAdd(day, ordering: .relaxed)
        let (page, rows) = try read(from: copied.position)
        #expect(!page.isReset)
        #expect(rows.map(\.id) == [ids[1]])
        #expect(rows[0].isDeleted)
        clock.milliseconds.wrappingAdd(1, ordering: .relaxed)
        let (late, copy) = try read(from: copied.position)
        #expect(late.isReset)
        #expect(copy.map(\.id) == [ids[0], ids[2], ids[3]])
        // Who has learned of the deletion has missed nothing.
        #expect(try !read(from: page.position).0.isReset)
    }

    /// A first copy takes many pages, which begin long before the oldest deletion that is kept.
    @Test func aCopyThatIsUnderWayIsNotBegunAnew() throws {
        let ids = try create(100)
        for id in ids.prefix(10) { _ = try store.deletePost(id) }
        clock.milliseconds.wrappingAdd(RankingLimits.tombstoneLifetime + 1, ordering: .relaxed)
        var (page, rows) = try read(from: .start, size: 7)
        var copy = Set(rows.map(\.id))
        _ = try store.deletePost(ids[10])
        _ = try store.deletePost(ids[99])
        while page.hasMore {
            #expect(page.position.copyRevision > 0)
            (page, rows) = try read(from: page.position, size: 7)
            #expect(!page.isReset)
            for row in rows where !row.isDeleted { copy.insert(row.id) }
            for row in rows where row.isDeleted { copy.remove(row.id) }
        }
        #expect(page.position.copyRevision == 0)
        #expect(copy == Set(ids[11..<99]))
    }

    @Test func anotherStateIsReset() throws {
        _ = try create(3)
        let ahead = SyncPosition(revision: store.revision + 1, copyRevision: 0)
        #expect(try read(from: ahead).0.isReset)
        let copying = SyncPosition(revision: 1, copyRevision: store.revision + 1)
        #expect(try read(from: copying).0.isReset)
    }

    @Test func aPageEndsBeforeItIsTooLong() throws {
        let ids = try create(20)
        let (page, rows) = try read(from: .start, byteLimit: 30)
        #expect(page.hasMore && rows.map(\.id) == Array(ids[..<4]))
        let (next, one) = try read(from: page.position, byteLimit: 1)
        #expect(next.hasMore && one.map(\.id) == [ids[4]])
    }

    /// A call looks at a bounded number of posts of other feeds.
    @Test func aSmallFeedIsFoundInParts() throws {
        _ = try create(20_000)
        let ids = try create(3, in: 1)
        var pages = 0
        var found: [PostID] = []
        var position = SyncPosition.start
        var hasMore = true
        while hasMore {
            let (page, rows) = try read(from: position, feed: FeedID(rawValue: 1), size: 10)
            found += rows.map(\.id)
            (position, hasMore) = (page.position, page.hasMore)
            pages += 1
        }
        #expect(found == ids)
        #expect(pages > 20_000 / (RankingLimits.maximumScanCount + 1))
    }
}
