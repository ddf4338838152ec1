import FeedRanking
import Testing

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
        RankKey(primary: RankKey.descending(score), secondary: 0, slot: slot)
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
