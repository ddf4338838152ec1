import CMallocHook
import FeedLog
import FeedRanking
import FeedTestSupport
import Testing

@Suite(.enabled(if: malloc_hook_is_active()))
struct LogEntryMemoryTests {
    @Test func votesWithALogAllocateNothingOnceWarm() throws {
        let store = FeedStore(stripeCount: 2) { 0 }
        let feed = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot))
        var page = PostPage()
        for number in 0..<20 {
            let feed = number % 2 == 0 ? feed : FeedID(rawValue: 0)
            try store.createPost(PostContent(), in: feed, into: &page)
        }
        let ids = page.rows.map(\.id)
        let voter = try store.voter(forDevice: (1, 2))
        let logs = ChangeLogs(count: 2, firstBatch: 1) {}
        var body: [UInt8] = []
        func vote(_ transactionCount: Int) throws {
            for transaction in 0..<transactionCount {
                let log = logs[transaction % 2]
                try log.transaction {
                    for (number, id) in ids.enumerated() {
                        let direction: VoteDirection = (transaction + number) % 3 == 0 ? .down : .up
                        _ = try store.castVote(id, direction, voter: voter, sink: log)
                    }
                    log.append(
                        ChannelOutcome(
                            channel: 1,
                            sequence: UInt64(transaction),
                            requestHash: 7,
                            outcome: .items(ItemMask(.max, 1))
                        )
                    )
                }
                if transaction % 50 == 49 { _ = logs.takeBatch(into: &body) }
            }
        }
        try vote(1_000)
        let before = malloc_hook_count()
        try vote(10_000)
        #expect(malloc_hook_count() == before)
        #expect(!body.isEmpty)
    }

    /// Votes that are read and put back take no memory either.
    @Test func votesPutBackAllocateNothingOnceWarm() throws {
        let store = FeedStore(stripeCount: 2) { 0 }
        var page = PostPage()
        try store.createPost(PostContent(), in: FeedID(rawValue: 0), into: &page)
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        logs[0].transaction {
            for revision in 2..<2_000 {
                let counts = PostCounts(
                    id: page.rows[0].id,
                    upvoteCount: UInt64(revision / 7),
                    downvoteCount: 0,
                    revision: UInt64(revision)
                )
                logs[0].append(.counts(counts))
            }
        }
        var body: [UInt8] = []
        _ = logs.takeBatch(into: &body)
        var reader = try LogEntryReader(body)
        if let first = try reader.next() { try store.apply(first) }
        let before = malloc_hook_count()
        while let entry = try reader.next() { try store.apply(entry) }
        #expect(malloc_hook_count() == before)
        #expect(store.revision == 1_999)
    }
}
