import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

/// An index beside a sorted array of the same keys.
private struct IndexUnderTest: ~Copyable {
    var posts = PostTable()
    var pool = NodePool()
    var index = RankedIndex()
    var sorter = KeySort()
    var model: [RankKey] = []
    var random: SeededGenerator
    private let seed: UInt64
    private let titles: [String]

    init(seed: UInt64, slotCount: Int) {
        random = SeededGenerator(seed: seed)
        self.seed = seed
        titles = ["a", "b", "the same 1", "the same 2", "the same 11", ""]
        for slot in 0..<slotCount {
            let title = titles.randomElement(using: &random) ?? ""
            let record = PostRecord(
                content: ContentBlob(
                    PostContent(title: title),
                    updateTimeMilliseconds: 0,
                    editRevision: 1
                ),
                feed: FeedID(rawValue: 0),
                voteMode: .tally,
                createTimeMilliseconds: 0,
                revision: 1
            )
            posts.insert(record, at: UInt32(slot))
        }
    }

    mutating func randomKey(_ slot: UInt32, spread: UInt64 = 40) -> RankKey {
        RankKey(
            primary: UInt64.random(in: 0..<spread, using: &random),
            secondary: posts[slot].titlePrefix,
            slot: slot
        )
    }

    /// The array's order, by titles in full.
    func title(_ key: RankKey) -> [UInt8] { Array(posts[key.slot].content.content.title.utf8) }

    mutating func sortModel() {
        var keyed: [(key: RankKey, title: [UInt8])] = []
        for key in model { keyed.append((key, title(key))) }
        keyed.sort { left, right in
            let (leftPrimary, rightPrimary) = (left.key.primary, right.key.primary)
            if leftPrimary != rightPrimary { return leftPrimary < rightPrimary }
            if left.title != right.title {
                return left.title.lexicographicallyPrecedes(right.title)
            }
            return left.key.slot < right.key.slot
        }
        model = keyed.map(\.key)
    }

    func place(of key: RankKey) -> Int {
        var low = 0
        var high = model.count
        while low < high {
            let middle = (low + high) / 2
            if posts.precedes(model[middle], key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    mutating func insert(_ key: RankKey) {
        index.insert(key, &pool, posts)
        model.insert(key, at: place(of: key))
    }

    mutating func compare() {
        index.checkInvariants(pool, posts)
        #expect(index.count == model.count)
        var position = index.position(atRank: 0, pool)
        var isEqual = true
        for key in model {
            isEqual = isEqual && index.key(at: position, pool) == key
            index.advance(&position, pool)
        }
        #expect(isEqual, "FEED_SEED=\(seed), \(posts.slotLimit) slots: the keys differ")
    }
}

@Suite struct RankedIndexTests {
    @Test(arguments: TestEnvironment.seeds(1...6))
    func agreesWithASortedArray(seed: UInt64) {
        let slotCount = [8, 200, 2_000, 9_000][Int(seed % 4)]
        var test = IndexUnderTest(seed: seed, slotCount: slotCount)
        var free = (0..<UInt32(slotCount)).map { $0 }
        for step in 0..<20_000 {
            // It grows and shrinks by turns, so nodes split and merge on every level.
            let grows = step / 5_000 % 2 == 0
            let choice = Int.random(in: 0..<10, using: &test.random)
            if choice < (grows ? 7 : 2), !free.isEmpty {
                let slot = free.remove(at: Int.random(in: 0..<free.count, using: &test.random))
                test.insert(test.randomKey(slot))
            } else if !test.model.isEmpty {
                let place = Int.random(in: 0..<test.model.count, using: &test.random)
                let key = test.model.remove(at: place)
                if choice == 9 {
                    var new = test.randomKey(key.slot)
                    // Votes move a key by few places, and mostly within its leaf.
                    if step.isMultiple(of: 2) {
                        let change = UInt64.random(in: 0...4, using: &test.random)
                        new.primary = max(key.primary, 2) - 2 + change
                    }
                    test.index.move(key, to: new, &test.pool, test.posts)
                    test.model.insert(new, at: test.place(of: new))
                } else {
                    #expect(test.index.remove(key, &test.pool, test.posts))
                    #expect(!test.index.remove(key, &test.pool, test.posts))
                    free.append(key.slot)
                }
            }
            if step % 97 == 0 || slotCount < 100 {
                test.index.checkInvariants(test.pool, test.posts)
            }
        }
        test.compare()
    }

    @Test(arguments: [0, 1, 49, 50, 51, 63, 64, 1_900, 3_000, 6_000], [0, 1, 40, 700])
    func rebuildsInEveryRatio(size: Int, mergedCount: Int) {
        var test = IndexUnderTest(seed: UInt64(size), slotCount: size + mergedCount)
        for slot in 0..<size { test.insert(test.randomKey(UInt32(slot))) }
        for share in [1, 2, 20, 1_000] {
            var dropped = SlotSet()
            dropped.reserve(size + mergedCount)
            var droppedSlots: Set<UInt32> = []
            for key in test.model where test.random.oneIn(share) {
                dropped.insert(key.slot)
                droppedSlots.insert(key.slot)
            }
            var merged = Slab<RankKey>()
            for slot in droppedSlots.sorted() where !test.random.oneIn(3) {
                merged.append(test.randomKey(slot))
            }
            if share == 1 {
                for slot in size..<size + mergedCount {
                    merged.append(test.randomKey(UInt32(slot)))
                }
            }
            test.model.removeAll { droppedSlots.contains($0.slot) }
            for place in 0..<merged.count { test.model.append(merged[place]) }
            test.sortModel()
            test.sorter.sort(&merged, test.posts)
            test.index.rebuild(
                dropping: dropped,
                droppedCount: droppedSlots.count,
                merging: merged,
                &test.pool,
                test.posts
            )
            test.compare()
        }
        test.index.removeAll(&test.pool)
        #expect(test.pool.nodeCount == 0)
    }

    @Test(arguments: [1, 63, 64, 500, 9_000])
    func movesLeafByLeaf(size: Int) {
        var test = IndexUnderTest(seed: UInt64(size), slotCount: size)
        for slot in 0..<size { test.insert(test.randomKey(UInt32(slot))) }
        var other = RankedIndex()
        while test.index.count > 0 {
            let leaf = test.index.takeFirstLeaf(&test.pool)
            other.appendLeaf(leaf, &test.pool)
            test.index.checkInvariants(test.pool, test.posts)
            other.checkInvariants(test.pool, test.posts)
            let countOfBoth = other.count + test.index.count
            #expect(countOfBoth == size)
        }
        #expect(test.index.takeFirstLeaf(&test.pool) == .none)
        test.index = other
        test.compare()
        test.index.removeAll(&test.pool)
        #expect(test.pool.nodeCount == 0)
    }

    @Test func findsRanksAndPlaces() {
        var test = IndexUnderTest(seed: 5, slotCount: 5_000)
        for slot in 0..<5_000 { test.insert(test.randomKey(UInt32(slot))) }
        for rank in stride(from: 0, to: 5_000, by: 7) {
            let key = test.model[rank]
            let position = test.index.position(of: key, test.pool, test.posts)
            #expect(position == test.index.position(atRank: rank, test.pool))
            #expect(test.index.key(at: position, test.pool) == key)
        }
        var position = test.index.position(atRank: 5_000, test.pool)
        for rank in (0..<5_000).reversed() {
            test.index.retreat(&position, test.pool)
            #expect(position.rank == rank)
            #expect(test.index.key(at: position, test.pool) == test.model[rank])
        }
        test.index.retreat(&position, test.pool)
        #expect(test.index.key(at: position, test.pool) == nil)
    }

    @Test(arguments: [0, 1, 31, 33, 500, 5_000, 20_000], [UInt64(1), 3, 70_000])
    func sortsKeysOfAnySpread(count: Int, spread: UInt64) {
        var test = IndexUnderTest(seed: spread, slotCount: count)
        var keys = Slab<RankKey>()
        for slot in (0..<count).shuffled(using: &test.random) {
            let key = test.randomKey(UInt32(slot), spread: spread)
            keys.append(key)
            test.model.append(key)
        }
        test.sortModel()
        test.sorter.sort(&keys, test.posts)
        var sorted: [RankKey] = []
        for place in 0..<keys.count { sorted.append(keys[place]) }
        #expect(sorted == test.model)
    }
}

@Suite struct PostTableTests {
    private static func record(_ number: UInt32) -> PostRecord {
        PostRecord(
            content: ContentBlob(
                PostContent(title: "title \(number)"),
                updateTimeMilliseconds: 0,
                editRevision: 1
            ),
            feed: FeedID(rawValue: 0),
            voteMode: .tally,
            createTimeMilliseconds: 0,
            revision: UInt64(number)
        )
    }

    @Test func forgetsAPieceWhosePostsAreAllRemoved() {
        var posts = PostTable()
        for slot in UInt32(0)..<3 * 1_024 { posts.insert(Self.record(slot), at: slot) }
        for slot in UInt32(1_024)..<2 * 1_024 { posts.remove(slot) }
        let next = posts.nextSlot(from: 1_024)
        #expect(next == 2 * 1_024)
        var wrong: [UInt32] = []
        for slot in UInt32(0)..<3 * 1_024 {
            let isThere = slot / 1_024 != 1
            let isRight = isThere ? posts[slot].revision == UInt64(slot) : true
            if posts.contains(slot) != isThere || !isRight { wrong.append(slot) }
        }
        let count = posts.count
        #expect(wrong.isEmpty && count == 2 * 1_024)
    }

    /// A slot's number decides where it is, also where the slots before it were never used.
    @Test func holdsPostsFarApart() {
        var posts = PostTable()
        let slots: [UInt32] = [0, 1_023, 1_024, 32_767, 32_768, 70_000]
        for slot in slots.reversed() { posts.insert(Self.record(slot), at: slot) }
        for slot in slots {
            let isThere = posts.contains(slot)
            let (revision, isOtherThere) = (posts[slot].revision, posts.contains(slot + 2))
            #expect(isThere && revision == UInt64(slot) && !isOtherThere)
        }
        let isLastThere = posts.contains(.max)
        #expect(!isLastThere)
    }

    @Test func looksAheadForAnyID() throws {
        let store = FeedStore(stripeCount: 4) { 0 }
        var page = PostPage()
        for _ in 0..<10 {
            try store.createPost(PostContent(), in: FeedID(rawValue: 0), into: &page)
        }
        try store.deletePost(PostID(rawValue: 3))
        let votes = try store.castVote(PostID(rawValue: 2), .up)
        for id in [0, 2, 3, 11, 200_000, 1 << 34, UInt64.max] {
            store.prefetch(PostID(rawValue: id))
        }
        #expect(try store.castVote(PostID(rawValue: 2), .up).score == votes.score + 1)
    }
}

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
