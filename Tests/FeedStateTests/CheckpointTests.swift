import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct CheckpointTests {
    @Test func anEvictedChannelLosesItsRow() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.checkpoint([Self.channels([1, 2]), Self.outcome(1, 5)], into: database)
        try Self.checkpoint(database) { $0.deleteRows(ofChannels: [1]) }
        let model = try StateModel(database)
        #expect(model.channels.keys.sorted() == [2])
        #expect(model.outcomes.isEmpty)
        #expect(database.meta.checkpointed.number == 2)
    }

    @Test func anOutcomeAfterTheEvictionKeepsTheRow() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.checkpoint([Self.channels([1]), Self.outcome(1, 5)], into: database)
        try Self.checkpoint(database) { memtable in
            memtable.deleteRows(ofChannels: [1])
            try memtable.add(Self.outcome(1, 6), at: JournalPosition(number: 3, hash: 3))
        }
        #expect(try StateModel(database).outcomes[1]?.keys.sorted() == [5, 6])
    }

    @Test func anOutcomeOfAnEvictedChannelMakesNoRow() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.checkpoint([Self.outcome(1, 5)], into: database)
        #expect(try StateModel(database).outcomes.isEmpty)
        #expect(database.meta.checkpointed.number == 1)
    }

    /// The outcomes of 256 sequences are kept, however many came between two checkpoints.
    @Test func outcomesOfTheWindowAreKept() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.checkpoint([Self.channels([1])], into: database)
        for end in [3, 200, 300, 700, 701] as [UInt64] {
            let known = try StateModel(database).outcomes[1]?.keys.max() ?? 0
            let bodies = (known + 1...end).shuffled().map { Self.outcome(1, $0) }
            try StateFixture.checkpoint(bodies, into: database)
            let found = try StateModel(database).outcomes[1]?.keys.sorted() ?? []
            #expect(found == Array(max(1, Int64(end) - 255)...Int64(end)).map(UInt64.init))
        }
    }

    @Test func ballotsAreKeptHoweverMany() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var entries: [LogEntry] = [
            .feed(FeedID(rawValue: 2), FeedPolicy(name: "ballots", voteMode: .ballot)),
            StateFixture.post(1, revision: 1, feed: 2),
        ]
        var expected: [UInt32: VoteDirection] = [:]
        var revision: UInt64 = 1
        for count in [1, 127, 128, 129, 1_024, 3_000] as [UInt32] {
            for voter in UInt32(expected.count)..<count {
                revision += 1
                let direction: VoteDirection = voter % 3 == 0 ? .up : .down
                expected[voter] = direction
                entries.append(
                    .ballot(Self.counts(revision), VoterID(rawValue: voter), direction)
                )
            }
            try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
            entries = []
            #expect(try StateModel(database).ballots[1] == expected)
        }
        for voter in 0..<3_000 as Range<UInt32> where voter % 100 != 7 {
            revision += 1
            expected[voter] = nil
            entries.append(.ballot(Self.counts(revision), VoterID(rawValue: voter), nil))
        }
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        #expect(try StateModel(database).ballots[1] == expected)
    }

    /// The last ballot of each voter on each post stands, however often it has changed.
    @Test(arguments: TestEnvironment.seeds(1...3))
    func theLastOfManyBallotsStands(seed: UInt64) throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var generator = SeededGenerator(seed: seed)
        let posts = (1...300).map { StateFixture.post($0, revision: $0, feed: 2) }
        let feed = FeedPolicy(name: "ballots", voteMode: .ballot)
        var entries: [LogEntry] = [.feed(FeedID(rawValue: 2), feed)] + posts
        var expected: [UInt64: [UInt32: VoteDirection]] = [:]
        for revision in 301...20_000 as ClosedRange<UInt64> {
            let post = UInt64.random(in: 1...300, using: &generator)
            let number = UInt32.random(in: 0..<50, using: &generator)
            let voter = generator.oneIn(2) ? number : (1 << 29) + number * 100
            let direction: VoteDirection? = [.up, .down, nil][Int(generator.next() % 3)]
            expected[post, default: [:]][voter] = direction
            var counts = Self.counts(revision)
            counts.id = PostID(rawValue: post)
            entries.append(.ballot(counts, VoterID(rawValue: voter), direction))
        }
        let half = entries.count / 2
        try StateFixture.checkpoint(
            [
                StateFixture.body(Array(entries[..<half])),
                StateFixture.body(Array(entries[half...])),
            ],
            into: database
        )
        #expect(try StateModel(database).ballots == expected.filter { !$0.value.isEmpty })
    }

    /// A step that finds no room is undone, and succeeds once there is some.
    @Test func aFullDiskIsNoHarm() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var source = LogEntrySource()
        var generator = SeededGenerator(seed: 9)
        let bodies = (0..<5).map { _ in source.batch(writes: 80, using: &generator) }
        let checkpoint = try StateFixture.begin(bodies, into: database)
        #expect(try !checkpoint.step(changes: 20))
        try database.limitPages(to: 1)
        let before = try StateModel(database)
        for _ in 0..<3 {
            let error = #expect(throws: StateError.self) { try checkpoint.step() }
            guard case .database(.full) = error else {
                Issue.record("\(error.map(String.init(describing:)) ?? "no error")")
                return
            }
            #expect(try StateModel(database) == before)
        }
        try database.limitPages(to: 1 << 20)
        while try !checkpoint.step(changes: 7) {}
        var found = try StateModel(database)
        found.highestRevision = source.model.highestRevision
        found.highestID = source.model.highestID
        #expect(found == source.model)
        try database.verify()
    }

    @Test func aStepEndsWhenItIsDue() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let posts = (1...100).map { StateFixture.post($0, revision: $0) }
        let checkpoint = try StateFixture.begin([StateFixture.body(posts)], into: database)
        var calls = 0
        var steps = 0
        repeat {
            steps += 1
        } while try !checkpoint.step {
            calls += 1
            return calls % 10 == 0
        }
        #expect(steps == 11)
        #expect(checkpoint.isDone)
        #expect(try checkpoint.step())
    }

    @Test func anOlderRecordAfterANewerChangesNothing() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let bodies = [
            StateFixture.body([StateFixture.post(1, revision: 1)]),
            StateFixture.body([.counts(Self.counts(9))]),
            StateFixture.body([.counts(Self.counts(5))]),
        ]
        try StateFixture.checkpoint(bodies, into: database)
        #expect(try StateModel(database).posts[1]?.counts == Self.counts(9))
    }

    /// More posts than are sorted at once, in no order.
    @Test func manyPostsAreCheckpointedOnceEach() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let ids = (0..<20_000 as Range<UInt64>).map { $0 &* 7_919 % 20_000 * 50 + 1 }
        let posts = ids.enumerated().map { StateFixture.post($1, revision: UInt64($0) + 1) }
        let checkpoint = try StateFixture.begin([StateFixture.body(posts)], into: database)
        var last: UInt64 = 0
        while try !checkpoint.step(changes: 4_000) {
            let found = try StateModel(database).posts.keys.sorted()
            // Each step continues where the last one ended.
            #expect(found == Array(ids.sorted().prefix(found.count)))
            #expect(UInt64(found.count) == last + 4_000)
            last = UInt64(found.count)
        }
        #expect(try StateModel(database).posts.count == 20_000)
    }

    @Test func aTableKnowsItsSize() throws {
        var memtable = Memtable()
        let isEmpty = memtable.isEmpty
        #expect(isEmpty)
        let posts = (1...5_000).map { StateFixture.post($0, revision: $0) }
        try memtable.add(StateFixture.body(posts), at: JournalPosition(number: 1, hash: 1))
        let changes = (isEmpty: memtable.isEmpty, count: memtable.changeCount)
        #expect(!changes.isEmpty && changes.count == 5_000)
        let byteCount = memtable.byteCount
        #expect(byteCount > 5_000 * 200)
        try memtable.add(StateFixture.body(posts), at: JournalPosition(number: 2, hash: 2))
        let again = memtable.byteCount
        #expect(again == byteCount)
    }

    private static func channels(_ numbers: [UInt64]) -> [UInt8] {
        StateFixture.body(
            numbers.map {
                .channel(ChannelState(number: $0, clientHigh: 1, clientLow: $0, channel: 0))
            }
        )
    }

    private static func outcome(_ channel: UInt64, _ sequence: UInt64) -> [UInt8] {
        StateFixture.body([
            .outcome(
                ChannelOutcome(
                    channel: channel,
                    sequence: sequence,
                    requestHash: 1,
                    outcome: .done
                )
            )
        ])
    }

    private static func counts(_ revision: UInt64) -> PostCounts {
        PostCounts(
            id: PostID(rawValue: 1),
            upvoteCount: revision,
            downvoteCount: 0,
            revision: revision
        )
    }

    private static func checkpoint(
        _ database: StateDatabase,
        _ body: (inout Memtable) throws -> Void
    ) throws {
        var memtable = Memtable()
        try body(&memtable)
        #expect(try Checkpoint(memtable, into: database).step())
    }
}
