import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// Random writes, checkpointed at random points with crashes in between, come to the same
/// as in the model, however often.
@Suite struct CheckpointModelTests {
    @Test(arguments: TestEnvironment.seeds(1...12))
    func checkpointsComeToWhatTheWritesCameTo(seed: UInt64) throws {
        let run = try CheckpointRun(seed: seed)
        for _ in 0..<(TestEnvironment.modelOperations(200)) { try run.turn() }
        try run.finish()
        #expect(run.crashCount > 0 && run.crashesInCheckpoints > 0, "seed \(seed)")
    }
}

/// One run: the journal in an array, a database, and what is being done to it.
private final class CheckpointRun {
    private let directory: DataDirectory
    private let seed: UInt64
    private var generator: SeededGenerator
    private var source = LogEntrySource()
    private var bodies: [[UInt8]] = []
    /// What the writes come to up to each record, from none on.
    private var models = [StateModel.new]
    private var database: StateDatabase?
    private var memtable: Memtable?
    private var checkpoint: Checkpoint?
    /// The last record that was added to the memtable.
    private var added = 0
    private(set) var crashCount = 0
    private(set) var crashesInCheckpoints = 0

    init(seed: UInt64) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        directory = try DataDirectory()
        database = try directory.create()
    }

    func turn() throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: write()
        case 4..<6: try add()
        case 6..<9: try step()
        default: try crash()
        }
    }

    /// Checkpoints all that was written and compares; then once more, from the file.
    func finish() throws {
        while added < bodies.count { try add() }
        while checkpoint != nil { try step() }
        try step()
        while checkpoint != nil { try step() }
        try compare(bodies.count)
        database = nil
        database = try directory.open()
        try compare(bodies.count)
    }

    private func write() {
        let writes = Int.random(in: 1...40, using: &generator)
        bodies.append(source.batch(writes: writes, using: &generator))
        models.append(source.model)
    }

    private func add() throws {
        guard added < bodies.count else { return }
        added += 1
        var memtable = self.memtable.take() ?? Memtable()
        if generator.oneIn(3), let number = source.evict(using: &generator) {
            memtable.deleteRows(ofChannels: [number])
        }
        try memtable.add(bodies[added - 1], at: Self.position(added))
        self.memtable = consume memtable
    }

    private func step() throws {
        guard let database else { return }
        if checkpoint == nil, let memtable = memtable.take() {
            checkpoint = Checkpoint(memtable, into: database)
        }
        guard let checkpoint else { return }
        let limit = Int.random(in: 1...12, using: &generator)
        guard try checkpoint.step(changes: limit) else { return }
        self.checkpoint = nil
        try compare(Int(checkpoint.target.number))
    }

    /// The process dies: the memtable is gone, and its records are read from the journal again.
    private func crash() throws {
        crashCount += 1
        checkpoint = nil
        _ = memtable.take()
        database = nil
        let database = try directory.open()
        if database.meta.isCheckpointing { crashesInCheckpoints += 1 }
        let checkpointed = database.meta.checkpointed
        #expect(checkpointed == Self.position(Int(checkpointed.number)))
        added = Int(checkpointed.number)
        self.database = database
        if !database.meta.isCheckpointing { try compare(added) }
        try database.verify()
    }

    private func compare(_ number: Int) throws {
        guard let database, !database.meta.isCheckpointing else { return }
        let evicted = source.evicted
        var found = try StateModel(database).without(evicted)
        var expected = models[number].without(evicted)
        #expect(found.highestID >= expected.highestID)
        #expect(found.highestRevision >= expected.highestRevision)
        found.highestID = expected.highestID
        expected.highestRevision = found.highestRevision
        #expect(found == expected, "seed \(seed), record \(number)")
        #expect(database.meta.checkpointed == Self.position(number))
    }

    private static func position(_ number: Int) -> JournalPosition {
        number == 0
            ? .start
            : JournalPosition(number: UInt64(number), hash: UInt64(number) &* 0xABCD_EF01)
    }
}
