import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

/// Threads that vote, create and delete while time passes, and others that read lists of windows.
@Suite struct WindowConcurrencyTests {
    private static let feed = FeedID(rawValue: 0)
    private static let lastingPostCount: UInt64 = 1_200
    private static let lists = ModelRun.lists.filter { order, window in
        window != nil || [.best, .controversial, .rising, .discussed].contains(order)
    }

    /// What a thread did.
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
        for tally in tallies {
            #expect(tally.faults.isEmpty, "\(tally.faults.first ?? "")")
        }
        #expect(tallies.contains { $0.pageCount > 0 })
        try Self.compare(store, clock, tallies)
        store.checkInvariants()
    }

    /// Compares every list with the posts, sorted plainly, and the counts with what was written.
    private static func compare(
        _ store: FeedStore,
        _ clock: TestClock,
        _ tallies: [Tally]
    ) throws {
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
