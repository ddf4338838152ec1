import CMallocHook
import FeedLog
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

/// Replay one seed with `FEED_SEED=<seed> swift test --filter LogEntryReplayTests`.
@Suite struct LogEntryReplayTests {
    @Test(arguments: TestEnvironment.seeds(1...12))
    func aReplayIsTheStore(seed: UInt64) throws {
        var run = try ChangeLogRun(seed: seed)
        try run.run(TestEnvironment.modelOperations(3_000), batchEvery: 40)
        #expect(
            try run.store.difference(to: run.model, deviceCount: ChangeLogRun.deviceCount) == nil,
            "FEED_SEED=\(seed)"
        )
        for stripeCount in [1, 2, 16] {
            let replayed = try FeedStore.replaying(run.bodies, stripeCount: stripeCount)
            #expect(replayed.stateHash() == run.store.stateHash(), "FEED_SEED=\(seed)")
            #expect(
                try replayed.difference(to: run.model, deviceCount: ChangeLogRun.deviceCount)
                    == nil,
                "FEED_SEED=\(seed)"
            )
            #expect(try replayed.walks() == run.store.walks(), "FEED_SEED=\(seed)")
            #expect(replayed.feeds() == run.store.feeds())
            #expect(replayed.revision == run.store.revision)
            replayed.checkInvariants()
        }
    }

    /// Any first commit batches are the state as of the last of them.
    @Test(arguments: TestEnvironment.seeds(1...6))
    func aPrefixIsTheStateAtItsLastBatch(seed: UInt64) throws {
        var run = try ChangeLogRun(seed: seed)
        try run.run(TestEnvironment.modelOperations(1_500), batchEvery: 12)
        let replayed = FeedStore(stripeCount: 2) { 0 }
        for (number, body) in run.bodies.enumerated() {
            try replayed.replay([body])
            let state = run.states[number]
            #expect(replayed.stateHash() == state.hash, "FEED_SEED=\(seed), batch \(number)")
            let difference = try replayed.difference(
                to: state.model,
                deviceCount: ChangeLogRun.deviceCount
            )
            #expect(difference == nil, "FEED_SEED=\(seed), batch \(number)")
            if difference != nil { return }
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...6))
    func whatIsAppliedAgainChangesNothing(seed: UInt64) throws {
        var run = try ChangeLogRun(seed: seed)
        try run.run(2_000, batchEvery: 30)
        let replayed = try FeedStore.replaying(run.bodies, stripeCount: 4)
        let hash = replayed.stateHash()
        var entries = try run.bodies.flatMap { try LogEntryReader.entries($0) }
        for entry in entries { try replayed.apply(entry) }
        #expect(replayed.stateHash() == hash, "FEED_SEED=\(seed)")
        // Older ones in any order.
        entries.shuffle(using: &run.random)
        for entry in entries {
            try replayed.apply(entry)
            if run.random.oneIn(100) {
                #expect(replayed.stateHash() == hash, "FEED_SEED=\(seed): \(entry)")
            }
        }
        #expect(replayed.stateHash() == hash, "FEED_SEED=\(seed)")
        #expect(
            try replayed.difference(to: run.model, deviceCount: ChangeLogRun.deviceCount) == nil,
            "FEED_SEED=\(seed)"
        )
        replayed.checkInvariants()
    }

    /// A state that was loaded at a commit batch takes the batches from an earlier one on.
    @Test(arguments: TestEnvironment.seeds(1...6))
    func aLoadedStateTakesBatchesThatItHasInPart(seed: UInt64) throws {
        var run = try ChangeLogRun(seed: seed)
        try run.run(1_500, batchEvery: 30)
        let half = run.bodies.count / 2
        let before = try FeedStore.replaying(run.bodies.prefix(half), stripeCount: 4)
        let loaded = FeedStore(stripeCount: 8) { 0 }
        for feed in before.feeds() { try loaded.apply(.feed(feed.id, feed.policy)) }
        for number in (0..<UInt32(ChangeLogRun.deviceCount)).reversed() {
            let device = Device16(high: UInt64(number), low: 7)
            guard let voter = before.voter(ifKnown: .device(device)) else { continue }
            try loaded.apply(.voter(voter, device: device))
        }
        // Posts in any order, each with its ballots behind it.
        let posts = before.sortedPosts().shuffled(using: &run.random)
        for post in posts {
            try loaded.apply(.post(post))
            guard post.keepsBallots else { continue }
            for number in 0..<UInt32(ChangeLogRun.deviceCount) {
                let voter = VoterID(rawValue: number)
                guard let ballot = try before.ballots(of: voter, on: [post])[0] else { continue }
                try loaded.apply(.ballot(post.counts, voter, ballot))
            }
        }
        #expect(loaded.stateHash() == run.states[half - 1].hash, "FEED_SEED=\(seed)")
        try loaded.replay(run.bodies.dropFirst(half - half / 4))
        #expect(loaded.stateHash() == run.store.stateHash(), "FEED_SEED=\(seed)")
        #expect(
            try loaded.difference(to: run.model, deviceCount: ChangeLogRun.deviceCount) == nil,
            "FEED_SEED=\(seed)"
        )
    }
}

@Suite(.enabled(if: malloc_hook_is_active())) struct LogEntryMemoryTests {
    @Test func votesWithALogAllocateNothingOnceWarm() throws {
        let store = FeedStore(stripeCount: 2) { 0 }
        let feed = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot))
        var page = PostPage()
        for number in 0..<20 {
            let feed = number % 2 == 0 ? feed : FeedID(rawValue: 0)
            try store.createPost(PostContent(), in: feed, into: &page)
        }
        let ids = page.rows.map(\.id)
        let voter = try store.voter(for: .device(Device16(high: 1, low: 2)))
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

extension FeedStore {
    /// A store with the state after some log entries.
    static func replaying(_ bodies: some Sequence<[UInt8]>, stripeCount: Int) throws -> FeedStore {
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        try store.replay(bodies)
        return store
    }

    /// Applies the log entries of bodies in their order.
    func replay(_ bodies: some Sequence<[UInt8]>) throws {
        for body in bodies {
            var reader = try LogEntryReader(body)
            while let entry = try reader.next() { try apply(entry) }
        }
    }
}
