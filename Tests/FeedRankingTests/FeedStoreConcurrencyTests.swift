import FeedRanking
import FeedTestSupport
import Synchronization
import Testing

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
            for thread in 0..<4 {
                group.addTask { Self.work(store, thread, operations) }
            }
            var tallies: [ThreadTally] = []
            for await tally in group {
                tallies.append(tally)
            }
            return tallies
        }
        for tally in tallies {
            #expect(tally.faults.isEmpty, "\(tally.faults.first ?? "")")
        }
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
        if random.oneIn(4) {
            query.start = .rank(UInt64.random(in: 1...300, using: &random))
        }
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
