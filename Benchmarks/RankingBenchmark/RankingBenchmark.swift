import FeedRanking
import FeedTestSupport
import Glibc

/// What the ranking costs at several sizes: `ranking-benchmark [posts ...]`.
///
/// One thread and 16 stripes; top, new and hot of one feed are kept, and one first page of top is
/// read every 300 votes, so a vote's share of the settling is in its figure.
@main
struct RankingBenchmark {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        for postCount in arguments.isEmpty ? [10_000, 100_000, 1_000_000] : arguments {
            var run = BenchmarkRun(postCount: postCount)
            run.report()
        }
    }
}

/// How long votes had a stripe settled.
private struct SettleTimes {
    private var count = 0
    private var sum = 0
    private(set) var longest = 0

    /// Nanoseconds of processor time.
    var mean: Double { Double(sum) / Double(max(count, 1)) }

    mutating func note(_ nanoseconds: Int) {
        count += 1
        sum += nanoseconds
        longest = max(longest, nanoseconds)
    }
}

/// One store, filled and measured.
struct BenchmarkRun {
    private static let pageEvery = 300

    private let postCount: Int
    private let store: FeedStore
    private let feed = FeedID(rawValue: 0)
    private var random = SeededGenerator(seed: 1)
    private var page = PostPage()

    init(postCount: Int) {
        self.postCount = postCount
        store = FeedStore(stripeCount: 16) {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        }
    }

    mutating func report() {
        print("\(postCount) posts")
        let bytesBefore = Self.residentByteCount()
        show("create", measure(postCount, rounds: 1) { $0.create() })
        for order in [Order.top, .new] {
            readFirst(order)
        }
        let bytesUsed = Self.residentByteCount() - bytesBefore
        let bytesPerPost = Double(bytesUsed) / Double(postCount) - Self.textByteCount
        print("  bytes a post beside its text, with top and new: \(Int(bytesPerPost))")
        readFirst(.hot)
        let votes = max(4_000_000, 2 * postCount)
        _ = measure(votes) { $0.vote($0.uniform()) }
        show("vote, uniform", measure(votes) { $0.vote($0.uniform()) })
        show("vote, skewed", measure(votes) { $0.vote($0.skewed()) })
        settles = SettleTimes()
        show("vote, uniform, no page", measure(votes) { $0.castVote($0.uniform()) })
        show("settle of a stripe that is due, on average", settles.mean)
        show("settle of a stripe that is due, longest", Double(settles.longest))
        readFirst(.top)
        show("first page of top", measure(20_000) { $0.readFirst(.top) })
        show("first page of new", measure(20_000) { $0.readFirst(.new) })
        show("page at a random rank", measure(300) { $0.readDeep() })
        show("rank of a random post", measure(3_000) { $0.readRank() })
    }

    private func show(_ name: String, _ nanoseconds: Double) {
        print("  \(name): \((nanoseconds * 10).rounded() / 10) ns")
    }

    /// Nanoseconds of this thread's processor time a call; the least of five rounds where the
    /// calls can be repeated.
    private mutating func measure(
        _ count: Int,
        rounds: Int = 5,
        _ body: (inout BenchmarkRun) -> Void
    ) -> Double {
        var least = Double.infinity
        for _ in 0..<rounds {
            let start = Self.processorNanoseconds()
            for _ in 0..<count / rounds {
                body(&self)
            }
            let used = Self.processorNanoseconds() - start
            least = min(least, Double(used) / Double(count / rounds))
        }
        return least
    }

    private static func processorNanoseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private static let textByteCount = 48.0

    private static func residentByteCount() -> Int {
        guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard unsafe fgets(&line, 128, file) != nil else { return 0 }
        let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4_096
    }

    private mutating func create() {
        let word = random.next() >> 4 | 1 << 59
        page.removeAll()
        let content = PostContent(
            authorName: "somebody",
            title: String(word, radix: 36),
            text: "What it says, in a few words"
        )
        guard let outcome = try? store.createPost(content, in: feed, into: &page) else { return }
        if outcome.settlingIsDue, let row = page.rows.first {
            store.settle(stripeOf: row.id)
        }
    }

    private mutating func uniform() -> UInt64 {
        UInt64(UInt64(postCount).multipliedFullWidth(by: random.next()).high) + 1
    }

    /// Most votes on few posts: the cube of a uniform share.
    private mutating func skewed() -> UInt64 {
        let share = Double(random.next() >> 11) / Double(1 << 53)
        return UInt64(share * share * share * Double(postCount)) + 1
    }

    private var votesSincePage = 0
    private var settles = SettleTimes()

    private mutating func vote(_ number: UInt64) {
        castVote(number)
        votesSincePage += 1
        if votesSincePage == Self.pageEvery {
            votesSincePage = 0
            readFirst(.top)
        }
    }

    private mutating func castVote(_ number: UInt64) {
        let id = PostID(rawValue: number)
        let direction: VoteDirection = random.next() & 3 == 0 ? .down : .up
        if let outcome = try? store.castVote(id, direction), outcome.settlingIsDue {
            let start = Self.processorNanoseconds()
            store.settle(stripeOf: id)
            settles.note(Self.processorNanoseconds() - start)
        }
    }

    private mutating func readFirst(_ order: Order) {
        load(PageQuery(feed: feed, order: order, size: 20))
    }

    private mutating func readDeep() {
        load(PageQuery(feed: feed, order: .top, size: 20, start: .rank(uniform())))
    }

    private mutating func load(_ query: PageQuery) {
        var budget = SettlingBudget()
        var outcome = try? store.page(query, into: &page, budget: &budget)
        while outcome == .again {
            budget.renew()
            outcome = try? store.page(query, into: &page, budget: &budget)
        }
        precondition(outcome == .done && page.rows.count == 20, "A page went wrong.")
    }

    private mutating func readRank() {
        var budget = SettlingBudget(keyCount: .max)
        let id = PostID(rawValue: uniform())
        _ = try? store.rank(of: id, order: .top, budget: &budget)
    }
}
