import CMallocHook
import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Glibc
import Synchronization
import Testing

@Suite struct FeedStoreTests {
    private static let feed = FeedID(rawValue: 0)

    private static func store(_ postCount: Int) throws -> FeedStore {
        let store = FeedStore(stripeCount: 1) { 1_700_000_000_000 }
        var page = PostPage()
        for number in 0..<postCount {
            page.removeAll()
            try store.createPost(PostContent(title: "title \(number)"), in: feed, into: &page)
        }
        return store
    }

    @Test func asksForRefreshUntilItIsDone() throws {
        let count = RankingLimits.minimumStaleCount
        let store = try Self.store(count)
        let id = PostID(rawValue: 1)
        #expect(try store.castVote(id, .up).refreshIsDue)
        #expect(try store.castVote(id, .up).refreshIsDue)
        store.refresh(stripeOf: id)
        #expect(try !store.castVote(id, .up).refreshIsDue)
        // One stale post is too few for a refresh: it stays stale.
        store.refresh(stripeOf: id)
        for number in 2..<count {
            let outcome = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            #expect(!outcome.refreshIsDue)
        }
        #expect(try store.castVote(PostID(rawValue: UInt64(count)), .up).refreshIsDue)
        store.checkInvariants()
    }

    @Test func asksForRefreshOnceItsShareOfManyPostsIsStale() throws {
        let limit = 3 * RankingLimits.minimumStaleCount
        let store = try Self.store(RankingLimits.staleShare * limit)
        var allowance = RefreshAllowance(keyCount: .max)
        _ = try store.rank(of: PostID(rawValue: 1), order: .top, allowance: &allowance)
        for number in 1..<limit {
            let outcome = try store.castVote(PostID(rawValue: UInt64(number)), .up)
            #expect(!outcome.refreshIsDue)
        }
        #expect(try store.castVote(PostID(rawValue: UInt64(limit)), .up).refreshIsDue)
    }

    @Test func knowsTheFeedOfAPost() throws {
        let store = try Self.store(1)
        let other = try store.createFeed(FeedPolicy(name: "other"))
        var page = PostPage()
        try store.createPost(PostContent(title: "of another"), in: other, into: &page)
        #expect(try store.feed(of: PostID(rawValue: 1)) == Self.feed)
        #expect(try store.feed(of: PostID(rawValue: 2)) == other)
        try store.deletePost(PostID(rawValue: 2))
        #expect(throws: RankingError.postNotFound(PostID(rawValue: 2))) {
            try store.feed(of: PostID(rawValue: 2))
        }
    }

    /// As an edit that changes nothing else, whose time stays.
    @Test func aPostLosesItsAuthor() throws {
        let store = try Self.store(0)
        let changes = RecordedChanges()
        var page = PostPage()
        let content = PostContent(authorID: 7, authorName: "Ann", title: "title", text: "text")
        try store.createPost(content, in: Self.feed, sink: changes, into: &page)
        let id = page.rows[0].id
        let before = (store.stateHash(), store.revision, page.rows[0])
        #expect(store.removeAuthor(8, of: id, sink: changes) == nil)
        #expect(store.removeAuthor(7, of: PostID(rawValue: 9), sink: changes) == nil)
        #expect(store.stateHash() == before.0 && store.revision == before.1)
        #expect(store.removeAuthor(7, of: id, sink: changes) == 9)
        #expect(store.removeAuthor(7, of: id, sink: changes) == nil)
        page.removeAll()
        try store.post(id, into: &page)
        let row = page.rows[0]
        #expect(row.authorID == 0 && page.bytes(row.authorName).isEmpty)
        #expect(page.bytes(row.title).elementsEqual("title".utf8))
        #expect(page.bytes(row.text).elementsEqual("text".utf8))
        #expect(row.updateTimeMilliseconds == before.2.updateTimeMilliseconds)
        #expect(row.revision == before.1 + 1 && store.revision == row.revision)
        #expect(try store.author(of: id) == 0)
        // Whoever has read it before cannot edit it unseen.
        #expect(throws: RankingError.self) {
            try store.updatePost(
                id,
                PostChanges(text: "other"),
                expectedRevision: before.1,
                into: &page
            )
        }
        let replayed = FeedStore(stripeCount: 1) { 0 }
        try replayed.restore(Self.feed, .posts)
        try changes.restore(to: replayed)
        #expect(replayed.stateHash() == store.stateHash())
    }

    @Test func clearsNoBallotWithoutAVoter() throws {
        let store = try Self.store(0)
        let feed = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot))
        var page = PostPage()
        try store.createPost(PostContent(title: "title"), in: feed, into: &page)
        let id = page.rows[0].id
        let voted = try store.castVote(
            id,
            .up,
            voter: store.voter(for: .device(Device16(high: 1, low: 2)))
        )
        #expect(voted.standingVote == .up)
        let cleared = try store.castVote(id, .clear)
        #expect(cleared.standingVote == nil && cleared.score == 1)
        #expect(cleared.revision == voted.revision && store.revision == voted.revision)
        #expect(throws: RankingError.voterRequired) { try store.castVote(id, .down) }
    }

    @Test(arguments: Order.allCases)
    func leadsBackFromAPageBeyondTheEnd(order: Order) throws {
        let store = try Self.store(5)
        var page = PostPage()
        var allowance = RefreshAllowance()
        var query = PageQuery(feed: Self.feed, order: order, size: 3, start: .rank(1_000))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.isEmpty && page.next == nil && page.firstRank == 6)
        query.start = .cursor(try #require(page.previous))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.count == 3 && page.firstRank == 3 && page.next == nil)
        // Nothing is left before the page that this token leads to.
        query.start = .cursor(try #require(page.previous))
        for row in page.rows { try store.deletePost(row.id) }
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.count == 2 && page.firstRank == 1 && page.previous == nil)
    }

    @Test(arguments: Order.allCases)
    func leadsOnFromAPageBeforeTheStart(order: Order) throws {
        let store = try Self.store(4)
        var page = PostPage()
        var allowance = RefreshAllowance()
        var query = PageQuery(feed: Self.feed, order: order, size: 2)
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        let first = page.rows.map(\.id)
        query.start = .cursor(try #require(page.next))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        let second = page.rows.map(\.id)
        query.start = .cursor(try #require(page.previous))
        for id in first { try store.deletePost(id) }
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.isEmpty && page.previous == nil && page.firstRank == 1)
        query.start = .cursor(try #require(page.next))
        #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
        #expect(page.rows.map(\.id) == second && page.firstRank == 1)
    }
}

@Suite struct FeedStoreImportTests {
    private static let feed = FeedID(rawValue: 0)
    private static let now: Int64 = 1_700_000_000_000

    private static func post(
        _ title: String,
        time: Int64,
        ups: UInt64 = 0,
        downs: UInt64 = 0
    ) -> ImportedPost {
        ImportedPost(
            content: PostContent(title: title),
            createTimeMilliseconds: time,
            upvoteCount: ups,
            downvoteCount: downs
        )
    }

    private static func titles(_ store: FeedStore, _ order: Order) throws -> [String] {
        var page = PostPage()
        var allowance = RefreshAllowance()
        let outcome = try store.page(
            PageQuery(feed: feed, order: order, size: 100),
            into: &page,
            allowance: &allowance
        )
        #expect(outcome == .done)
        return page.rows.map { String(decoding: page.bytes($0.title), as: UTF8.self) }
    }

    /// Orders that were built before, and others that are built after, show the same.
    @Test(arguments: [false, true])
    func ordersByWhatPostsBring(isBuiltBefore: Bool) throws {
        let store = FeedStore(stripeCount: 4) { Self.now }
        var page = PostPage()
        try store.createPost(PostContent(title: "created"), in: Self.feed, into: &page)
        if isBuiltBefore { for order in Order.allCases { _ = try Self.titles(store, order) } }
        let outcome = try store.importPosts(
            [
                Self.post("future", time: Self.now + 300_000),
                Self.post("epoch", time: 0, ups: 9),
                Self.post("past", time: Self.now - 1, ups: 5, downs: 6),
                Self.post("much liked", time: 1, ups: 1 << 53, downs: 0),
            ],
            in: Self.feed
        )
        #expect(outcome.firstID == PostID(rawValue: 2))
        #expect(outcome.revision == 5)
        #expect(store.postCount == 5)
        let newest = ["future", "created", "past", "much liked", "epoch"]
        #expect(try Self.titles(store, .new) == newest)
        #expect(try Self.titles(store, .old) == newest.reversed())
        #expect(
            try Self.titles(store, .top) == ["much liked", "epoch", "created", "future", "past"]
        )
        #expect(
            try Self.titles(store, .hot) == ["future", "created", "past", "much liked", "epoch"]
        )
        store.checkInvariants()
    }

    @Test func addsVotesToImportedCounts() throws {
        let store = FeedStore(stripeCount: 1) { Self.now }
        let outcome = try store.importPosts(
            [Self.post("a", time: 5, ups: 3, downs: 1)],
            in: Self.feed
        )
        let vote = try store.castVote(outcome.firstID, .down)
        #expect((vote.upvoteCount, vote.downvoteCount, vote.score) == (3, 2, 1))
    }

    @Test func leavesTheClockAlone() throws {
        let store = FeedStore(stripeCount: 1) { Self.now }
        try store.importPosts([Self.post("future", time: Self.now + 300_000)], in: Self.feed)
        var page = PostPage()
        try store.createPost(PostContent(title: "created"), in: Self.feed, into: &page)
        #expect(page.rows[0].createTimeMilliseconds == Self.now)
        try store.post(PostID(rawValue: 1), into: &page)
        #expect(page.rows[1].updateTimeMilliseconds == Self.now + 300_000)
    }

    @Test func asksForRefreshOnceAStripe() throws {
        let store = FeedStore(stripeCount: 4) { Self.now }
        let count = 4 * RankingLimits.minimumStaleCount + 8
        let posts = (0..<count).map { Self.post("\($0)", time: Int64($0)) }
        let due = try store.importPosts(posts, in: Self.feed).refreshDue
        #expect(Set(due.map { $0.rawValue % 4 }).count == 4)
        #expect(due.count == 4)
        for id in due { store.refresh(stripeOf: id) }
        #expect(try store.importPosts([posts[0]], in: Self.feed).refreshDue.isEmpty)
    }

    @Test func needsAFeed() {
        let store = FeedStore(stripeCount: 1) { Self.now }
        let nowhere = FeedID(rawValue: 9)
        #expect(throws: RankingError.feedNotFound(nowhere)) {
            try store.importPosts([Self.post("a", time: 0)], in: nowhere)
        }
        #expect(store.postCount == 0)
    }
}

/// The times that posts get, and their correction.
@Suite struct FeedStoreTimeTests {
    private static let feed = FeedID(rawValue: 0)
    private static let now: Int64 = 1_700_000_000_000
    private static let year: Int64 = 365 * 86_400_000

    /// Makes a post at a time of the clock; returns the time that it got.
    private static func create(_ title: String, _ store: FeedStore) throws -> Int64 {
        var page = PostPage()
        try store.createPost(PostContent(title: title), in: feed, into: &page)
        return page.rows[0].createTimeMilliseconds
    }

    private static func titles(_ store: FeedStore, _ order: Order) throws -> [String] {
        var page = PostPage()
        var allowance = RefreshAllowance()
        let query = PageQuery(feed: feed, order: order, size: 100)
        let outcome = try store.page(query, into: &page, allowance: &allowance)
        #expect(outcome == .done)
        return page.rows.map { String(decoding: page.bytes($0.title), as: UTF8.self) }
    }

    @Test func timesStandStillForFiveMinutesAndNoLonger() throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 2) { clock.milliseconds.load(ordering: .relaxed) }
        let first = try Self.create("a", store)
        clock.milliseconds.wrappingSubtract(300_000, ordering: .relaxed)
        #expect(try Self.create("b", store) == first)
        clock.milliseconds.wrappingSubtract(1, ordering: .relaxed)
        #expect(try Self.create("c", store) == first - 300_001)
        clock.milliseconds.wrappingAdd(5, ordering: .relaxed)
        #expect(try Self.create("d", store) == first - 299_996)
        #expect(try Self.titles(store, .new) == ["b", "a", "d", "c"])
    }

    @Test func timesStayWithinTheirBounds() throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 2) { clock.milliseconds.load(ordering: .relaxed) }
        for (time, expected) in [
            (Int64.min, 0), (-1, 0), (.max, RankingLimits.maximumTimeMilliseconds),
        ] {
            clock.milliseconds.store(time, ordering: .relaxed)
            #expect(try Self.create("a", store) == expected)
        }
    }

    /// A clock ten years ahead stamps a post and an edit; then it is right.
    @Test(arguments: [false, true])
    func aCorrectionMovesThePostInEveryOrder(isBuiltBefore: Bool) throws {
        let clock = TestClock()
        let store = FeedStore(stripeCount: 4) { clock.milliseconds.load(ordering: .relaxed) }
        _ = try Self.create("old", store)
        _ = try Self.create("edited", store)
        clock.milliseconds.wrappingAdd(10 * Self.year, ordering: .relaxed)
        _ = try Self.create("future", store)
        var page = PostPage()
        let edit = PostChanges(text: "later")
        try store.updatePost(PostID(rawValue: 2), edit, into: &page)
        clock.milliseconds.wrappingSubtract(10 * Self.year - 1_000, ordering: .relaxed)
        _ = try Self.create("new", store)
        if isBuiltBefore {
            for order in Order.allCases { _ = try Self.titles(store, order) }
            #expect(try Self.titles(store, .new) == ["future", "new", "edited", "old"])
        }
        let bound = Self.now + 300_000
        #expect(store.countPosts(after: bound) == 2)
        let found = store.postsAhead(
            of: bound,
            behind: PostID(rawValue: 0),
            idCount: 100,
            postCount: 100,
            correctingTo: Self.now + 500
        )
        #expect(found.posts.map(\.title) == ["edited", "future"])
        #expect(found.posts.map(\.createTimeMilliseconds) == [Self.now, Self.now + 10 * Self.year])
        #expect(found.next == nil)
        #expect(found.revision == store.revision)
        #expect(try Self.titles(store, .new) == ["new", "future", "edited", "old"])
        #expect(try Self.titles(store, .old) == ["old", "edited", "future", "new"])
        #expect(try Self.titles(store, .hot) == ["new", "old", "edited", "future"])
        page.removeAll()
        for id in 1...4 as ClosedRange<UInt64> { try store.post(PostID(rawValue: id), into: &page) }
        let late = Self.now + 500
        #expect(
            page.rows.map(\.createTimeMilliseconds) == [Self.now, Self.now, late, Self.now + 1_000]
        )
        let updates = page.rows.map(\.updateTimeMilliseconds)
        #expect(updates == [Self.now, late, late, Self.now + 1_000])
        #expect(store.countPosts(after: bound) == 0)
        store.checkInvariants()
    }

    @Test func theSearchGoesOnWhereItEnded() throws {
        let store = FeedStore(stripeCount: 2) { Self.now }
        for number in 0..<10 { _ = try Self.create("\(number)", store) }
        try store.deletePost(PostID(rawValue: 4))
        var ids: [UInt64] = []
        var next: PostID? = PostID(rawValue: 0)
        var count = 0
        while let start = next {
            let part = store.postsAhead(of: 0, behind: start, idCount: 3, postCount: 2)
            ids += part.posts.map(\.id.rawValue)
            next = part.next
            count += 1
        }
        #expect(ids == [1, 2, 3, 5, 6, 7, 8, 9, 10])
        #expect(count == 5)
        let laterPosts = store.postsAhead(
            of: 0,
            behind: PostID(rawValue: .max),
            idCount: .max,
            postCount: 1
        )
        #expect(laterPosts.posts.isEmpty && laterPosts.next == nil)
        // After so many bytes of texts there is nothing more, but always one post.
        let short = store.postsAhead(
            of: 0,
            behind: PostID(rawValue: 0),
            idCount: 9,
            postCount: 9,
            textByteCount: 2
        )
        #expect(short.posts.count == 2 && short.next == PostID(rawValue: 2))
    }
}

@Suite(.enabled(if: malloc_hook_is_active())) struct FeedStoreMemoryTests {
    private static let feed = FeedID(rawValue: 0)
    private static let text = "What it says, in a few words"

    private static func filledStore(_ postCount: Int) throws -> FeedStore {
        var random = SeededGenerator(seed: 1)
        let store = FeedStore(stripeCount: 16) { 1_700_000_000_000 }
        var page = PostPage()
        for _ in 0..<postCount {
            page.removeAll()
            let content = PostContent(title: title(&random), text: text)
            let outcome = try store.createPost(content, in: feed, into: &page)
            if outcome.refreshIsDue { store.refresh(stripeOf: page.rows[0].id) }
        }
        for order in [Order.top, .new] { try readFirst(store, order, &page) }
        return store
    }

    private static func title(_ random: inout SeededGenerator) -> String {
        String(random.next() >> 4 | 1 << 59, radix: 36)
    }

    private static func readFirst(
        _ store: FeedStore,
        _ order: Order,
        _ page: inout PostPage
    ) throws {
        var allowance = RefreshAllowance(keyCount: .max)
        let query = PageQuery(feed: feed, order: order, size: 20)
        _ = try store.page(query, into: &page, allowance: &allowance)
    }

    /// What of the process's memory is there: segments are asked for whole and used piece by piece.
    private static func residentByteCount() -> Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, 128, file) != nil else { return 0 }
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4_096
    }

    /// Of so many posts each stripe has begun a second segment, which takes what it uses.
    @Test func aPostCostsAtMost190BytesBesideItsText() async {
        await #expect(processExitsWith: .success) {
            let postCount = 600_000
            let before = Self.residentByteCount()
            let store = try Self.filledStore(postCount)
            let used = Self.residentByteCount() - before
            let bytesPerPost =
                Double(used) / Double(postCount)
                - Double(Self.text.utf8.count + 12)
            precondition(bytesPerPost <= 190, "A post costs \(bytesPerPost) bytes.")
            precondition(bytesPerPost > 100, "A post cannot cost \(bytesPerPost) bytes.")
            precondition(store.postCount == UInt64(postCount), "Posts are missing.")
        }
    }

    @Test func titlesThatChangeTakeNoMemoryInTheListsOfWindows() async {
        await #expect(processExitsWith: .success) {
            let store = FeedStore(stripeCount: 1) { 1_700_000_000_000 }
            var page = PostPage()
            try store.createPost(PostContent(title: "title"), in: Self.feed, into: &page)
            let id = page.rows[0].id
            var allowance = RefreshAllowance(keyCount: .max)
            for window in Window.allCases {
                let query = PageQuery(feed: Self.feed, order: .top, window: window, size: 20)
                _ = try store.page(query, into: &page, allowance: &allowance)
            }
            let before = malloc_hook_live_byte_count()
            for number in 0..<100_000 {
                page.removeAll()
                let changes = PostChanges(title: number % 2 == 0 ? "one" : "two")
                _ = try store.updatePost(id, changes, into: &page)
            }
            // An entry a change would be 16 bytes in each of five windows.
            let used = Int(malloc_hook_live_byte_count()) - Int(before)
            precondition(used < 1 << 20, "The changes took \(used) bytes.")
            var query = PageQuery(feed: Self.feed, order: .top, window: .hour, size: 20)
            query.start = .first
            _ = try store.page(query, into: &page, allowance: &allowance)
            precondition(page.totalCount == 1, "The window has \(page.totalCount) posts.")
        }
    }

    @Test func votesAllocateNothingOnceWarm() throws {
        var random = SeededGenerator(seed: 2)
        let store = try Self.filledStore(20_000)
        var page = PostPage()
        func vote(_ count: Int) throws {
            for number in 0..<count {
                let id = PostID(rawValue: UInt64.random(in: 1...20_000, using: &random))
                let outcome = try store.castVote(id, number % 3 == 0 ? .down : .up)
                if outcome.refreshIsDue { store.refresh(stripeOf: id) }
                if number % 5_000 == 0 { try Self.readFirst(store, .hot, &page) }
            }
        }
        try vote(200_000)
        let before = malloc_hook_count()
        try vote(200_000)
        // The pages between the votes keep their titles; the votes and the refreshes keep nothing.
        #expect(malloc_hook_count() - before <= 40 * 4)
    }

    @Test func ballotsAllocateNothingOnceWarm() throws {
        let store = FeedStore(stripeCount: 1) { 0 }
        let feed = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot))
        var page = PostPage()
        try store.createPost(PostContent(), in: feed, into: &page)
        let voter = try store.voter(for: .device(Device16(high: 1, low: 2)))
        let id = page.rows[0].id
        for _ in 0..<100 { _ = try store.castVote(id, .up, voter: voter) }
        let before = malloc_hook_count()
        for number in 0..<10_000 {
            _ = try store.castVote(id, number % 2 == 0 ? .down : .clear, voter: voter)
        }
        #expect(malloc_hook_count() == before)
    }
}
