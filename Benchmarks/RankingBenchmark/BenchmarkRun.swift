import FeedRanking
import FeedTestSupport
import Glibc

/// One store, filled, and what the scenarios share.
struct BenchmarkRun {
    static let feed = FeedID(rawValue: 0)
    /// The title's and the other texts' bytes of each post.
    private static let textByteCount = 48.0

    let postCount: Int
    let store: FeedStore
    /// The weight of all votes, which a loop computes once a millisecond.
    let weight: VoteWeight
    var random = SeededGenerator(seed: 1)
    var page = PostPage()
    private let createNanoseconds: Double
    private let bytesPerPost: Double

    init(postCount: Int) {
        self.postCount = postCount
        store = FeedStore(stripeCount: 16) {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        }
        weight = store.voteWeight()
        let bytesBefore = Measurement.residentByteCount()
        let start = Measurement.processorNanoseconds()
        for _ in 0..<postCount {
            Self.create(in: store, &random, &page)
        }
        let used = Measurement.processorNanoseconds() - start
        createNanoseconds = Double(used) / Double(postCount)
        for order in [Order.top, .new] {
            Self.load(PageQuery(feed: Self.feed, order: order, size: 20), from: store, &page)
        }
        let bytes = Double(Measurement.residentByteCount() - bytesBefore)
        bytesPerPost = bytes / Double(postCount) - Self.textByteCount
        Self.load(PageQuery(feed: Self.feed, order: .hot, size: 20), from: store, &page)
    }

    mutating func run(_ scenario: Scenario) {
        switch scenario {
        case .create:
            Measurement.show("create", createNanoseconds)
            Measurement.show("a post beside its text, with top and new", bytesPerPost, "bytes")
        case .vote: measureVotes()
        case .lists: measureLists()
        case .sides: measureSides()
        case .ballots: measureBallots()
        case .refresh: measureRefresh()
        case .page: measurePages()
        case .rank: measureRanks()
        case .log: measureChangeLog()
        }
    }

    mutating func load(_ query: PageQuery) {
        Self.load(query, from: store, &page)
    }

    mutating func readFirst(_ order: Order) {
        load(PageQuery(feed: Self.feed, order: order, size: 20))
    }

    private static func create(
        in store: FeedStore,
        _ random: inout SeededGenerator,
        _ page: inout PostPage
    ) {
        page.removeAll()
        let content = PostContent(
            authorName: "somebody",
            title: String(random.next() >> 4 | 1 << 59, radix: 36),
            text: "What it says, in a few words"
        )
        guard let outcome = try? store.createPost(content, in: feed, into: &page) else { return }
        if outcome.refreshIsDue { store.refresh(stripeOf: page.rows[0].id) }
    }

    private static func load(
        _ query: PageQuery,
        from store: FeedStore,
        _ page: inout PostPage
    ) {
        var allowance = RefreshAllowance()
        var outcome = try? store.page(query, into: &page, allowance: &allowance)
        while outcome == .again {
            allowance.renew()
            outcome = try? store.page(query, into: &page, allowance: &allowance)
        }
        precondition(outcome == .done && page.rows.count == 20, "A page went wrong.")
    }
}
