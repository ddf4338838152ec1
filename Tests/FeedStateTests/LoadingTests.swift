import FeedConcurrency
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Synchronization
import Testing

@Suite struct LoadingTests {
    @Test func aNewStateHasTheBuiltInFeeds() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        #expect(try StateModel(database) == .new)
        #expect(try StateFixture.storeHash(database) == StateFixture.storeHash(nil))
        #expect(database.meta.instanceID != 0)
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func aLoadedStoreIsTheOneThatTookTheEntries(seed: UInt64) throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let (_, bodies) = try StateFixture.fill(database, batches: 12, seed: seed)
        #expect(try StateFixture.storeHash(database) == StateFixture.storeHash(nil, bodies))
    }

    /// A checkpoint is interrupted after each number of changes; the journal repairs it.
    @Test(arguments: TestEnvironment.seeds(1...4))
    func replayRepairsAnInterruptedCheckpoint(seed: UInt64) throws {
        let directory = try DataDirectory()
        var database = try directory.create()
        var source = LogEntrySource()
        var generator = SeededGenerator(seed: seed)
        let first = (0..<4).map { _ in source.batch(writes: 60, using: &generator) }
        let second = (0..<4).map { _ in source.batch(writes: 60, using: &generator) }
        let third = [source.batch(writes: 30, using: &generator)]
        try StateFixture.checkpoint(first, into: database)
        let hash = try StateFixture.storeHash(nil, first + second + third)
        var steps = 0
        while true {
            steps += 1
            if try Self.checkpoint(second, into: database, steps: steps) { break }
            database = try directory.reopen(&database)
            #expect(database.meta.isCheckpointing)
            #expect(try StateFixture.storeHash(database, second + third) == hash)
        }
        #expect(steps > 3)
        #expect(try StateFixture.storeHash(database, third) == hash)
    }

    /// Writes so many checkpoint steps; returns whether that was all.
    private static func checkpoint(
        _ bodies: [[UInt8]],
        into database: StateDatabase,
        steps: Int
    ) throws -> Bool {
        let checkpoint = try StateFixture.begin(bodies, into: database)
        for _ in 0..<steps where try checkpoint.step(changes: 9) { return true }
        return false
    }

    @Test func countersSurviveThePostsTheyCounted() throws {
        let directory = try DataDirectory()
        var database = try directory.create()
        let entries = [
            StateFixture.post(900, revision: 4),
            .deletion(PostID(rawValue: 900), revision: 5),
            .channel(ChannelState(number: 7, clientHigh: 1, clientLow: 2, channel: 3)),
        ]
        try StateFixture.checkpoint([StateFixture.body(entries)], into: database)
        database = try directory.reopen(&database)
        #expect(database.meta.highestID == 900)
        #expect(database.meta.highestRevision == 5)
        #expect(database.meta.nextChannel == 8)
        let store = FeedStore(stripeCount: 1) { 0 }
        try database.load(into: store, channels: { _, _ in })
        #expect(store.postCount == 0)
        #expect(store.revision == 5)
    }

    @Test func progressEndsAtAllRows() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        var last: [UInt64] = []
        try database.load(
            into: FeedStore(stripeCount: 1) { 0 },
            channels: { _, _ in },
            progress: { last = [$0, $1] }
        )
        #expect(last == [database.rowCount, database.rowCount])
    }

    @Test func metaIsKept() throws {
        let directory = try DataDirectory()
        var database = try directory.create()
        try database.update { meta in
            meta.bootID = "boot"
            meta.durability = "os"
            meta.pageTokenKey = StateMeta.PageTokenKey(high: .max, low: 1)
        }
        let meta = database.meta
        database = try directory.reopen(&database)
        #expect(database.meta == meta)
    }

    @Test func createRefusesWhatIsThere() throws {
        let directory = try DataDirectory()
        _ = try directory.create()
        #expect(throws: StorageError.notEmpty(directory: directory.path, name: "state.db")) {
            try directory.create()
        }
    }

    @Test func aFileThatIsNotThereIsNamed() throws {
        let directory = try DataDirectory()
        #expect(throws: StorageError.missingFile(path: directory.path + "/state.db")) {
            try directory.open()
        }
    }
}

@Suite struct ReadAheadTests {
    private struct Failure: Error, Equatable {
        var name: String

        init(name: String) { self.name = name }

        /// The system has refused the thread.
        init(refusal: ThreadStartError) { name = refusal.name }
    }

    private typealias Numbers = ReadAhead<Int, Failure>

    private final class Witness: Sendable {
        let alive = Atomic(0)
    }

    private final class Held {
        let witness: Witness

        init(_ witness: Witness) {
            self.witness = witness
            witness.alive.add(1, ordering: .relaxed)
        }

        deinit { witness.alive.subtract(1, ordering: .relaxed) }
    }

    @Test func allBatchesAreAppliedInOrder() throws {
        var applied: [Int] = []
        try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
            for number in 0..<1_000 where !ahead.send(number) { return }
        } applying: { number throws(Failure) in
            applied.append(number)
        }
        #expect(applied == Array(0..<1_000))
    }

    @Test func aFailureOfReadingComesBehindWhatWasReadBefore() {
        var applied: [Int] = []
        #expect(throws: Failure(name: "read")) {
            try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
                for number in 0..<100 { _ = ahead.send(number) }
                throw Failure(name: "read")
            } applying: { number throws(Failure) in
                applied.append(number)
            }
        }
        #expect(applied == Array(0..<100))
    }

    @Test func aFailureOfApplyingEndsTheReadingAndIsTheOneThatIsThrown() {
        let sent = Atomic(0)
        var applied: [Int] = []
        #expect(throws: Failure(name: "applied 10")) {
            try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
                while ahead.send(sent.load(ordering: .relaxed)) { sent.add(1, ordering: .relaxed) }
                // Further ones are not taken, and do not wait.
                for _ in 0..<100 where ahead.send(0) { return }
                throw Failure(name: "read")
            } applying: { number throws(Failure) in
                applied.append(number)
                if number == 10 { throw Failure(name: "applied 10") }
            }
        }
        #expect(applied == Array(0...10))
        #expect(sent.load(ordering: .relaxed) <= 11 + Numbers.limit)
    }

    @Test func readingIsAtMostTheLimitAhead() throws {
        let sent = Atomic(0)
        try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
            for number in 0..<1_000 {
                _ = ahead.send(number)
                sent.add(1, ordering: .relaxed)
            }
        } applying: { number throws(Failure) in
            // The batch itself, and those that wait after it.
            #expect(sent.load(ordering: .relaxed) <= number + 1 + Numbers.limit)
        }
    }

    @Test(arguments: [false, true])
    func nothingThatReadingUsedIsLeftAtTheEnd(fails: Bool) {
        let witness = Witness()
        for _ in 0..<100 {
            try? Self.runWithHeld(witness, fails)
            #expect(witness.alive.load(ordering: .relaxed) == 0)
        }
    }

    /// Only the reading has what it uses.
    private static func runWithHeld(_ witness: Witness, _ fails: Bool) throws {
        try Numbers.run(
            "test",
            refused: Failure.init(refusal:),
            reading: reading(Held(witness))
        ) { number throws(Failure) in
            if fails, number == 5 { throw Failure(name: "applied") }
        }
    }

    private static func reading(_ held: Held) -> Numbers.Reading {
        { ahead throws(Failure) in
            for number in 0..<10 { _ = ahead.send(number) }
            withExtendedLifetime(held) {}
        }
    }
}
