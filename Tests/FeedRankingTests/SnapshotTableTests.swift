import FeedRanking
import Testing

/// The budget and the sharing of snapshots, through the pages that use them.
@Suite struct SnapshotTableTests {
    @Test func callersShareASnapshotForAQuarterOfASecond() throws {
        let feed = try ListedFeed(postCount: 50)
        for now in [0, 100, 249] {
            #expect(try feed.read(feed.stable(atMillisecond: now)).isStable)
            try feed.create()
        }
        #expect(feed.store.snapshotUsage.count == 1)
        #expect(try feed.read(feed.stable(atMillisecond: 250)).isStable)
        #expect(feed.store.snapshotUsage.count == 2)
    }

    @Test func eachListHasSnapshotsOfItsOwn() throws {
        let feed = try ListedFeed(postCount: 50)
        for order in Order.allCases {
            #expect(try feed.read(feed.stable(order)).isStable)
            var front = feed.stable(order)
            front.feed = nil
            #expect(try feed.read(front).isStable)
        }
        #expect(feed.store.snapshotUsage.count == 2 * Order.allCases.count)
    }

    @Test func theLeastRecentlyUsedSnapshotsAreDroppedBeyondTheBudget() throws {
        let feed = try ListedFeed(postCount: 1_000)
        let first = try feed.read(feed.stable(.old))
        var second = feed.stable(.old)
        second.start = .cursor(try #require(first.next))
        var now = 0
        var count = 0
        // Snapshots of the greatest size, until the first is dropped that nobody has used.
        while feed.store.snapshotUsage.count > count || count < 100 {
            count = feed.store.snapshotUsage.count
            now += 250
            try feed.create()
            #expect(try feed.read(feed.stable(.new, atMillisecond: now)).isStable)
            second.now = ListedFeed.instant(now)
            #expect(try feed.read(second).isStable)
        }
        #expect(feed.store.snapshotUsage.byteCount <= RankingLimits.maximumSnapshotByteCount)
        #expect(feed.store.snapshotUsage.byteCount > RankingLimits.maximumSnapshotByteCount / 2)
    }

    @Test func aTokenOfAnotherListFindsNoSnapshot() throws {
        let feed = try ListedFeed(postCount: 50)
        let first = try feed.read(feed.stable(.old))
        var cursor = try #require(first.next)
        var query = feed.stable(.new)
        cursor.order = .new
        query.start = .cursor(cursor)
        #expect(try feed.read(query).isStable == false)
    }
}
