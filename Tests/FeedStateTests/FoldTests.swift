import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct FoldTests {
    @Test func anEvictedChannelLosesItsRow() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fold([Self.channels([1, 2]), Self.outcome(1, 5)], into: database)
        try Self.fold(database) { $0.evict([1]) }
        let model = try StateModel(database)
        #expect(model.channels.keys.sorted() == [2])
        #expect(model.outcomes.isEmpty)
        #expect(database.meta.folded.sequence == 2)
    }

    @Test func anOutcomeAfterTheEvictionKeepsTheRow() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fold([Self.channels([1]), Self.outcome(1, 5)], into: database)
        try Self.fold(database) { table in
            table.evict([1])
            try table.gather(Self.outcome(1, 6), at: JournalPosition(sequence: 3, hash: 3))
        }
        #expect(try StateModel(database).outcomes[1]?.keys.sorted() == [5, 6])
    }

    @Test func anOutcomeOfAnEvictedChannelMakesNoRow() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fold([Self.outcome(1, 5)], into: database)
        #expect(try StateModel(database).outcomes.isEmpty)
        #expect(database.meta.folded.sequence == 1)
    }

    /// The outcomes of 256 sequences are kept, whatever came between two folds.
    @Test func outcomesOfTheWindowAreKept() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fold([Self.channels([1])], into: database)
        for end in [3, 200, 300, 700, 701] as [UInt64] {
            let known = try StateModel(database).outcomes[1]?.keys.max() ?? 0
            let bodies = (known + 1...end).shuffled().map { Self.outcome(1, $0) }
            try StateFixture.fold(bodies, into: database)
            let found = try StateModel(database).outcomes[1]?.keys.sorted() ?? []
            #expect(found == Array(max(1, Int64(end) - 255)...Int64(end)).map(UInt64.init))
        }
    }

    @Test func ballotsAreKeptHoweverMany() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var effects: [Effect] = [
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
                effects.append(
                    .ballot(Self.counts(revision), VoterID(rawValue: voter), direction)
                )
            }
            try StateFixture.fold([StateFixture.body(effects)], into: database)
            effects = []
            #expect(try StateModel(database).ballots[1] == expected)
        }
        for voter in 0..<3_000 as Range<UInt32> where voter % 100 != 7 {
            revision += 1
            expected[voter] = nil
            effects.append(.ballot(Self.counts(revision), VoterID(rawValue: voter), nil))
        }
        try StateFixture.fold([StateFixture.body(effects)], into: database)
        #expect(try StateModel(database).ballots[1] == expected)
    }

    /// A slice that finds no room is undone, and goes well once there is some.
    @Test func aFullDiskIsNoHarm() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        var source = EffectSource()
        var generator = SeededGenerator(seed: 9)
        let bodies = (0..<5).map { _ in source.cut(writes: 80, using: &generator) }
        let fold = try StateFixture.begin(bodies, into: database)
        #expect(try !fold.step(changes: 20))
        try database.limitPages(to: 1)
        let before = try StateModel(database)
        for _ in 0..<3 {
            let error = #expect(throws: StateError.self) { try fold.step() }
            guard case .database(.full) = error else {
                Issue.record("\(error.map(String.init(describing:)) ?? "no error")")
                return
            }
            #expect(try StateModel(database) == before)
        }
        try database.limitPages(to: 1 << 20)
        while try !fold.step(changes: 7) {}
        var found = try StateModel(database)
        found.highestRevision = source.model.highestRevision
        found.highestID = source.model.highestID
        #expect(found == source.model)
        try database.verify()
    }

    @Test func aSliceEndsWhenItIsDue() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let posts = (1...100).map { StateFixture.post($0, revision: $0) }
        let fold = try StateFixture.begin([StateFixture.body(posts)], into: database)
        var calls = 0
        var slices = 0
        repeat {
            slices += 1
        } while try !fold.step {
            calls += 1
            return calls % 10 == 0
        }
        #expect(slices == 11)
        #expect(fold.isDone)
        #expect(try fold.step())
    }

    @Test func anOlderRecordAfterANewerChangesNothing() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let bodies = [
            StateFixture.body([StateFixture.post(1, revision: 1)]),
            StateFixture.body([.counts(Self.counts(9))]),
            StateFixture.body([.counts(Self.counts(5))]),
        ]
        try StateFixture.fold(bodies, into: database)
        #expect(try StateModel(database).posts[1]?.counts == Self.counts(9))
    }

    /// More posts than are sorted at once, in no order.
    @Test func manyPostsAreFoldedOnceEach() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let ids = (0..<20_000 as Range<UInt64>).map { $0 &* 7_919 % 20_000 * 50 + 1 }
        let posts = ids.enumerated().map { StateFixture.post($1, revision: UInt64($0) + 1) }
        let fold = try StateFixture.begin([StateFixture.body(posts)], into: database)
        var last: UInt64 = 0
        while try !fold.step(changes: 4_000) {
            let found = try StateModel(database).posts.keys.sorted()
            // Whatever slice it is, it went on from where the last one ended.
            #expect(found == Array(ids.sorted().prefix(found.count)))
            #expect(UInt64(found.count) == last + 4_000)
            last = UInt64(found.count)
        }
        #expect(try StateModel(database).posts.count == 20_000)
    }

    @Test func aTableKnowsItsSize() throws {
        var table = FoldTable()
        let isEmpty = table.isEmpty
        #expect(isEmpty)
        let posts = (1...5_000).map { StateFixture.post($0, revision: $0) }
        try table.gather(StateFixture.body(posts), at: JournalPosition(sequence: 1, hash: 1))
        let changes = (isEmpty: table.isEmpty, count: table.changeCount)
        #expect(!changes.isEmpty && changes.count == 5_000)
        let byteCount = table.byteCount
        #expect(byteCount > 5_000 * 200)
        try table.gather(StateFixture.body(posts), at: JournalPosition(sequence: 2, hash: 2))
        let again = table.byteCount
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

    private static func fold(
        _ database: StateDatabase,
        _ body: (inout FoldTable) throws -> Void
    ) throws {
        var table = FoldTable()
        try body(&table)
        #expect(try Fold(table, into: database).step())
    }
}
