import CMallocHook
import FeedRanking
import FeedTestSupport
import Glibc
import Testing

@Suite(.enabled(if: malloc_hook_is_active()))
struct FeedStoreMemoryTests {
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
        for order in [Order.top, .new] {
            try readFirst(store, order, &page)
        }
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
        let voter = try store.voter(forDevice: (1, 2))
        let id = page.rows[0].id
        for _ in 0..<100 { _ = try store.castVote(id, .up, voter: voter) }
        let before = malloc_hook_count()
        for number in 0..<10_000 {
            _ = try store.castVote(id, number % 2 == 0 ? .down : .clear, voter: voter)
        }
        #expect(malloc_hook_count() == before)
    }
}
