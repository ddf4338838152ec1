import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

/// Threads that import, vote, delete, page and refresh in small steps, all at once.
@Suite struct RefreshConcurrencyTests {
    private static let feed = FeedID(rawValue: 0)
    private static let lastingPostCount: UInt64 = 2_000

    private struct Tally: Sendable {
        var voteSum: Int64 = 0
        var upvoteCount = 0
        var importedCount = 0
        var deletedCount = 0
        var stepCount = 0
        var faults: [String] = []
    }

    private static func store(_ stripeCount: Int) throws -> FeedStore {
        var pace = RefreshPace()
        pace.minimumStaleCount = 100
        pace.wholePostCount = 0
        pace.stepKeyCount = 50
        pace.headPostCount = 1
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 1_700_000_000_000 }
        try store.importPosts(posts(Int(lastingPostCount), seed: 1), in: feed)
        for feed in [feed, nil] {
            for order in Order.allCases { _ = try read(store, feed, order, .first, 10) }
        }
        return store
    }

    /// Posts of any time, some of which share it, and a title.
    private static func posts(_ count: Int, seed: UInt64) -> [ImportedPost] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            let seconds = Int64.random(in: 1_699_000_000...1_700_000_000, using: &random)
            return ImportedPost(
                content: PostContent(title: "title \(number % 50)"),
                createTimeMilliseconds: seconds / 100 * 100_000
            )
        }
    }

    private static func read(
        _ store: FeedStore,
        _ feed: FeedID?,
        _ order: Order,
        _ start: PageQuery.Start,
        _ size: Int
    ) throws -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: 64)
        let query = PageQuery(feed: feed, order: order, size: size, start: start)
        while try store.page(query, into: &page, allowance: &allowance) == .again {
            allowance.renew()
        }
        return page
    }

    @Test(arguments: [1, 4])
    func keepsEveryPostAndVote(stripeCount: Int) async throws {
        let store = try Self.store(stripeCount)
        let operations = TestEnvironment.modelOperations(100_000) / 4
        let tallies = await withTaskGroup(of: Tally.self) { group in
            for thread in 0..<4 { group.addTask { Self.work(store, thread, operations) } }
            var tallies: [Tally] = []
            for await tally in group { tallies.append(tally) }
            return tallies
        }
        for tally in tallies { #expect(tally.faults.isEmpty, "\(tally.faults.first ?? "")") }
        store.checkInvariants()
        // A job is many steps: so many calls did steps, and not whole refreshes.
        let stepCount = tallies.reduce(0) { $0 + $1.stepCount }
        #expect(stepCount > operations / 200, "\(stepCount) steps")
        let kept = tallies.reduce(Int(Self.lastingPostCount)) {
            $0 + $1.importedCount - $1.deletedCount
        }
        for order in Order.allCases {
            let rows = try Self.walk(store, order)
            #expect(rows.count == kept)
            #expect(rows.reduce(0) { $0 + $1.score } == tallies.reduce(0) { $0 + $1.voteSum })
            let upvoteCount = tallies.reduce(0) { $0 + $1.upvoteCount }
            #expect(rows.reduce(0) { $0 + $1.upvoteCount } == UInt64(upvoteCount))
        }
    }

    private static func work(_ store: FeedStore, _ thread: Int, _ operations: Int) -> Tally {
        var random = SeededGenerator(seed: UInt64(thread) + 10)
        var tally = Tally()
        var own: [PostID] = []
        for step in 0..<operations {
            do {
                switch Int.random(in: 0..<200, using: &random) {
                case 0:
                    let count = Int.random(in: 1...8, using: &random)
                    let outcome = try store.importPosts(posts(count, seed: UInt64(step)), in: feed)
                    let first = outcome.firstID.rawValue
                    own += (first..<first + UInt64(count)).map(PostID.init(rawValue:))
                    tally.importedCount += count
                case 1..<5 where !own.isEmpty:
                    let index = Int.random(in: own.indices, using: &random)
                    try store.deletePost(own.remove(at: index))
                    tally.deletedCount += 1
                case 5..<10:
                    try readPage(store, &random, &tally)
                case 10 where step % 100 == thread:
                    store.checkInvariants(isChanging: true)
                default:
                    try vote(store, &random, &tally)
                }
            } catch {
                tally.faults.append("\(error)")
            }
        }
        return tally
    }

    private static func readPage(
        _ store: FeedStore,
        _ random: inout SeededGenerator,
        _ tally: inout Tally
    ) throws {
        // A read deep in a list, or from its other end, ends the jobs: few reads are such.
        let isDeep = random.oneIn(100)
        let orders: [Order] = isDeep ? [.top, .new, .old, .hot] : [.top, .new, .hot]
        let order = orders.randomElement(using: &random) ?? .top
        let rank = isDeep ? UInt64.random(in: 1...900, using: &random) : 1
        let feed = random.oneIn(2) ? feed : nil
        let page = try read(store, feed, order, .rank(rank), 10)
        if let fault = page.disorder(order) { tally.faults.append(fault) }
    }

    /// Votes on a post that nobody deletes; now and then often enough to bring it to the front.
    private static func vote(
        _ store: FeedStore,
        _ random: inout SeededGenerator,
        _ tally: inout Tally
    ) throws {
        let id = PostID(rawValue: UInt64.random(in: 1...lastingPostCount, using: &random))
        store.prefetch(id)
        let direction: VoteDirection = random.oneIn(2) ? .down : .up
        for _ in 0..<(random.oneIn(200) ? 30 : 1) {
            let outcome = try store.castVote(id, direction)
            tally.voteSum += direction == .up ? 1 : -1
            tally.upvoteCount += direction == .up ? 1 : 0
            if outcome.refreshIsDue, random.oneIn(4) {
                store.refresh(stripeOf: id)
                tally.stepCount += 1
            }
        }
    }

    /// All posts in an order, read while nobody writes.
    private static func walk(_ store: FeedStore, _ order: Order) throws -> [PostRow] {
        var rows: [PostRow] = []
        var start = PageQuery.Start.first
        while true {
            let page = try read(store, feed, order, start, 100)
            #expect(page.disorder(order) == nil)
            rows += page.rows
            guard let next = page.next else { break }
            start = .cursor(next)
        }
        #expect(Set(rows.map(\.id)).count == rows.count)
        return rows
    }
}

/// What the threads of a test did, counted apart and summed at its end.
private struct ThreadTally: Sendable {
    var upvotes = 0
    var downvotes = 0
    var created = 0
    var deleted = 0
    var faults: [String] = []
}

@Suite struct FeedStoreConcurrencyTests {
    private static let feed = FeedID(rawValue: 0)

    @Test(arguments: [1, 4, 16])
    func conservesCountsWhileThreadsWriteAndPage(stripeCount: Int) async throws {
        let store = FeedStore(stripeCount: stripeCount) { 1_700_000_000_000 }
        let operations = TestEnvironment.modelOperations(160_000) / 4
        var page = PostPage()
        for number in 0..<400 {
            let content = PostContent(title: "title \(number % 7)")
            try store.createPost(content, in: Self.feed, into: &page)
        }
        let tallies = await withTaskGroup(of: ThreadTally.self) { group in
            for thread in 0..<4 { group.addTask { Self.work(store, thread, operations) } }
            var tallies: [ThreadTally] = []
            for await tally in group { tallies.append(tally) }
            return tallies
        }
        for tally in tallies { #expect(tally.faults.isEmpty, "\(tally.faults.first ?? "")") }
        store.checkInvariants()
        let created = tallies.reduce(400) { $0 + $1.created }
        let deleted = tallies.reduce(0) { $0 + $1.deleted }
        #expect(store.postCount == UInt64(created - deleted))

        let rows = try Self.walk(store)
        #expect(rows.count == created - deleted)
        // Only the posts that nobody deletes get votes.
        let upvotes = tallies.reduce(0) { $0 + $1.upvotes }
        let downvotes = tallies.reduce(0) { $0 + $1.downvotes }
        #expect(rows.reduce(0) { $0 + $1.upvoteCount } == UInt64(upvotes))
        #expect(rows.reduce(0) { $0 + $1.downvoteCount } == UInt64(downvotes))
        let writes = created + deleted + upvotes + downvotes
        #expect(store.revision == UInt64(writes + operations / 100 * 4))
    }

    private static func work(_ store: FeedStore, _ thread: Int, _ operations: Int) -> ThreadTally {
        var random = SeededGenerator(seed: UInt64(thread))
        var tally = ThreadTally()
        var page = PostPage()
        var own: [PostID] = []
        for step in 0..<operations {
            do {
                let id = PostID(rawValue: UInt64.random(in: 1...400, using: &random))
                store.prefetch(PostID(rawValue: UInt64.random(in: 0...300_000, using: &random)))
                if step % 100 == 99 {
                    page.removeAll()
                    let changes = PostChanges(title: "title \(step % 9)")
                    try store.updatePost(id, changes, into: &page)
                    continue
                }
                switch Int.random(in: 0..<40, using: &random) {
                case 0:
                    page.removeAll()
                    let content = PostContent(title: "title \(step % 9)")
                    try store.createPost(content, in: feed, into: &page)
                    own.append(page.rows[0].id)
                    tally.created += 1
                case 1 where !own.isEmpty:
                    try store.deletePost(own.removeLast())
                    tally.deleted += 1
                case 2:
                    try readPage(store, &random, &page, &tally)
                default:
                    let direction: VoteDirection = random.oneIn(3) ? .down : .up
                    let outcome = try store.castVote(id, direction)
                    if outcome.refreshIsDue { store.refresh(stripeOf: id) }
                    if direction == .up { tally.upvotes += 1 } else { tally.downvotes += 1 }
                }
            } catch {
                tally.faults.append("\(error)")
            }
        }
        return tally
    }

    private static func readPage(
        _ store: FeedStore,
        _ random: inout SeededGenerator,
        _ page: inout PostPage,
        _ tally: inout ThreadTally
    ) throws {
        let order = Order.allCases.randomElement(using: &random) ?? .top
        var query = PageQuery(feed: random.oneIn(2) ? feed : nil, order: order, size: 30)
        if random.oneIn(4) { query.start = .rank(UInt64.random(in: 1...300, using: &random)) }
        // Less than the posts there are, so that pages take several tries.
        var allowance = RefreshAllowance(keyCount: 64)
        var tryCount = 1
        while try store.page(query, into: &page, allowance: &allowance) == .again {
            tryCount += 1
            allowance.renew()
        }
        if tryCount > 16 { tally.faults.append("\(order): a page took \(tryCount) tries") }
        if Set(page.rows.map(\.id)).count != page.rows.count {
            tally.faults.append("\(order): an id came twice")
        }
        if let fault = page.disorder(order) { tally.faults.append(fault) }
    }

    /// All posts in the order of their scores, read while nobody writes.
    private static func walk(_ store: FeedStore) throws -> [PostRow] {
        var rows: [PostRow] = []
        var titles: [[UInt8]] = []
        var page = PostPage()
        var query = PageQuery(feed: feed, order: .top, size: 100)
        while true {
            var allowance = RefreshAllowance(keyCount: .max)
            #expect(try store.page(query, into: &page, allowance: &allowance) == .done)
            rows += page.rows
            titles += page.rows.map { Array(page.bytes($0.title)) }
            guard let next = page.next else { break }
            query.start = .cursor(next)
        }
        let sorted = rows.indices.sorted { left, right in
            if rows[left].score != rows[right].score { return rows[left].score > rows[right].score }
            if titles[left] != titles[right] {
                return titles[left].lexicographicallyPrecedes(titles[right])
            }
            return rows[left].id < rows[right].id
        }
        #expect(sorted == Array(rows.indices))
        return rows
    }
}

/// Threads that vote, create and delete while time passes, and others that read lists of windows.
@Suite struct WindowConcurrencyTests {
    private static let feed = FeedID(rawValue: 0)
    private static let lastingPostCount: UInt64 = 1_200
    private static let lists = ModelRun.lists.filter { order, window in
        window != nil || [.best, .controversial, .rising, .discussed].contains(order)
    }

    private struct Tally: Sendable {
        var voteSum: Int64 = 0
        var keptCount = 0
        var pageCount = 0
        var faults: [String] = []
    }

    /// A store of which each step is small, with posts of all ages up to two years.
    private static func store(_ stripeCount: Int, _ clock: TestClock) throws -> FeedStore {
        var pace = RefreshPace()
        pace.headPostCount = 4
        pace.sideStepPostCount = 50
        let store = FeedStore(stripeCount: stripeCount, pace: pace) {
            clock.milliseconds.load(ordering: .relaxed)
        }
        let now = clock.milliseconds.load(ordering: .relaxed)
        var random = SeededGenerator(seed: 5)
        let posts = (0..<lastingPostCount).map { number in
            let window = Window.allCases[Int(number) % Window.allCases.count]
            let age = Int64.random(in: 0...2 * window.milliseconds, using: &random)
            return ImportedPost(
                content: PostContent(title: "title \(number % 50)", commentCount: number % 30),
                createTimeMilliseconds: now - age
            )
        }
        for first in stride(from: 0, to: posts.count, by: 256) {
            let part = posts[first..<min(first + 256, posts.count)]
            try store.importPosts(Array(part), in: feed)
        }
        return store
    }

    @Test(arguments: [1, 4])
    func windowsAreExactAfterConcurrentVotesAndReads(stripeCount: Int) async throws {
        let clock = TestClock()
        let store = try Self.store(stripeCount, clock)
        let operations = TestEnvironment.modelOperations(60_000) / 4
        let tallies = await withTaskGroup(of: Tally.self) { group in
            for thread in 0..<2 {
                group.addTask { Self.write(store, clock, thread, operations) }
                group.addTask { Self.read(store, thread, operations / 40) }
            }
            var tallies: [Tally] = []
            for await tally in group { tallies.append(tally) }
            return tallies
        }
        for tally in tallies { #expect(tally.faults.isEmpty, "\(tally.faults.first ?? "")") }
        #expect(tallies.contains { $0.pageCount > 0 })
        try Self.compare(store, clock, tallies)
        store.checkInvariants()
    }

    /// Compares every list with the posts, sorted plainly, and the counts with what was written.
    private static func compare(_ store: FeedStore, _ clock: TestClock, _ tallies: [Tally]) throws {
        var model = FeedModel()
        store.forEachPost { post in
            let id = post.counts.id.rawValue
            model.posts[id] = FeedModel.Post(post)
        }
        let kept = tallies.reduce(Int(lastingPostCount)) { $0 + $1.keptCount }
        #expect(model.posts.count == kept)
        let voteSum = tallies.reduce(0) { $0 + $1.voteSum }
        #expect(model.posts.values.reduce(0) { $0 + $1.score } == voteSum)
        let now = clock.milliseconds.load(ordering: .relaxed)
        for (order, window) in lists where order != .rising {
            let list = model.list(0, order, window, endingAt: now)
            var query = PageQuery(feed: feed, order: order, window: window, size: 100)
            var ids: [UInt64] = []
            while true {
                let page = try page(store, query)
                ids += page.rows.map(\.id.rawValue)
                #expect(page.totalCount == UInt64(list.count))
                guard let next = page.next else { break }
                query.start = .cursor(next)
            }
            #expect(ids == list.map(\.id), "\(order) of \(String(describing: window))")
        }
    }

    /// Votes, and now and then creates, deletes and edits, while the clock goes on.
    private static func write(
        _ store: FeedStore,
        _ clock: TestClock,
        _ thread: Int,
        _ operations: Int
    ) -> Tally {
        var random = SeededGenerator(seed: UInt64(thread) + 20)
        var tally = Tally()
        var own: [PostID] = []
        var page = PostPage()
        for step in 0..<operations {
            // An hour in a hundred steps or so: posts leave every window but the longest.
            clock.milliseconds.wrappingAdd(
                Int64.random(in: 0...72_000, using: &random),
                ordering: .relaxed
            )
            do {
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<3:
                    page.removeAll()
                    try store.createPost(PostContent(title: "new"), in: feed, into: &page)
                    own.append(page.rows[0].id)
                    tally.keptCount += 1
                case 3 where !own.isEmpty:
                    try store.deletePost(
                        own.remove(at: Int.random(in: own.indices, using: &random))
                    )
                    tally.keptCount -= 1
                case 4:
                    page.removeAll()
                    let changes = PostChanges(
                        title: "title \(step % 9)",
                        commentCount: UInt64(step)
                    )
                    try store.updatePost(anyID(&random), changes, into: &page)
                default:
                    let direction: VoteDirection = random.oneIn(3) ? .down : .up
                    _ = try store.castVote(anyID(&random), direction)
                    tally.voteSum += direction == .up ? 1 : -1
                }
            } catch {
                tally.faults.append("\(error)")
            }
        }
        return tally
    }

    /// A post that nobody deletes; a few of them get most votes.
    private static func anyID(_ random: inout SeededGenerator) -> PostID {
        let limit = random.oneIn(2) ? lastingPostCount : lastingPostCount / 20
        return PostID(rawValue: UInt64.random(in: 1...limit, using: &random))
    }

    /// Reads first pages and pages at ranks, each of which is in order in itself.
    private static func read(_ store: FeedStore, _ thread: Int, _ operations: Int) -> Tally {
        var random = SeededGenerator(seed: UInt64(thread) + 30)
        var tally = Tally()
        for _ in 0..<operations {
            let (order, window) = lists.randomElement(using: &random) ?? (.top, .day)
            var query = PageQuery(
                feed: random.oneIn(2) ? feed : nil,
                order: order,
                window: window,
                size: 20
            )
            if random.oneIn(8) {
                query.start = .rank(UInt64.random(in: 1...lastingPostCount, using: &random))
            }
            do {
                let page = try page(store, query)
                tally.pageCount += 1
                if let fault = page.disorder(order) { tally.faults.append(fault) }
            } catch {
                tally.faults.append("\(error)")
            }
        }
        return tally
    }

    private static func page(_ store: FeedStore, _ query: PageQuery) throws -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: 64)
        while try store.page(query, into: &page, allowance: &allowance) == .again {
            allowance.renew()
        }
        return page
    }
}

extension FeedModel.Post {
    /// A post as a store has it; its sum of RISING is left out.
    fileprivate init(_ post: PostState) {
        self.init(
            id: post.counts.id.rawValue,
            feed: post.feed.rawValue,
            content: post.content,
            time: post.createTimeMilliseconds,
            updateTime: post.updateTimeMilliseconds,
            upvotes: post.counts.upvoteCount,
            downvotes: post.counts.downvoteCount,
            revision: post.counts.revision,
            editRevision: post.editRevision
        )
    }
}
