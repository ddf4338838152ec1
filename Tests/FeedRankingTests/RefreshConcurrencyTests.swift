import FeedRanking
import FeedTestSupport
import Testing

/// Threads that import, vote, delete, page and refresh in small steps, all at once.
@Suite struct RefreshConcurrencyTests {
    private static let feed = FeedID(rawValue: 0)
    private static let lastingPostCount: UInt64 = 2_000

    /// What a thread did.
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
            for thread in 0..<4 {
                group.addTask { Self.work(store, thread, operations) }
            }
            var tallies: [Tally] = []
            for await tally in group { tallies.append(tally) }
            return tallies
        }
        for tally in tallies {
            #expect(tally.faults.isEmpty, "\(tally.faults.first ?? "")")
        }
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
