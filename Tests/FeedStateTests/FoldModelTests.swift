import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// Random writes, gathered and folded at random points with crashes in between, come to the same
/// as in the model, however often.
@Suite struct FoldModelTests {
    @Test(arguments: TestEnvironment.seeds(1...12))
    func foldsComeToWhatTheWritesCameTo(seed: UInt64) throws {
        let run = try FoldRun(seed: seed)
        for _ in 0..<(TestEnvironment.modelOperations(200)) { try run.turn() }
        try run.finish()
        #expect(run.crashCount > 0 && run.crashesInFolds > 0, "seed \(seed)")
    }
}

/// One run: the journal in an array, a database, and what is being done to it.
private final class FoldRun {
    private let directory: DataDirectory
    private let seed: UInt64
    private var generator: SeededGenerator
    private var source = EffectSource()
    private var bodies: [[UInt8]] = []
    /// What the writes come to up to each record, from none on.
    private var models = [StateModel.new]
    private var database: StateDatabase?
    private var table: FoldTable?
    private var fold: Fold?
    /// The last record that was gathered.
    private var gathered = 0
    private(set) var crashCount = 0
    private(set) var crashesInFolds = 0

    init(seed: UInt64) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        directory = try DataDirectory()
        database = try directory.create()
    }

    func turn() throws {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: write()
        case 4..<6: try gather()
        case 6..<9: try step()
        default: try crash()
        }
    }

    /// Folds all that was written and compares; then once more, from the file.
    func finish() throws {
        while gathered < bodies.count { try gather() }
        while fold != nil { try step() }
        try step()
        while fold != nil { try step() }
        try compare(bodies.count)
        database = nil
        database = try directory.open()
        try compare(bodies.count)
    }

    private func write() {
        let writes = Int.random(in: 1...40, using: &generator)
        bodies.append(source.cut(writes: writes, using: &generator))
        models.append(source.model)
    }

    private func gather() throws {
        guard gathered < bodies.count else { return }
        gathered += 1
        var table = self.table.take() ?? FoldTable()
        if generator.oneIn(3), let number = source.evict(using: &generator) {
            table.evict([number])
        }
        try table.gather(bodies[gathered - 1], at: Self.position(gathered))
        self.table = consume table
    }

    private func step() throws {
        guard let database else { return }
        if fold == nil, let table = table.take() { fold = Fold(table, into: database) }
        guard let fold else { return }
        let limit = Int.random(in: 1...12, using: &generator)
        guard try fold.step(changes: limit) else { return }
        self.fold = nil
        try compare(Int(fold.target.sequence))
    }

    /// The process dies: what was gathered is gone, and is read from the journal again.
    private func crash() throws {
        crashCount += 1
        fold = nil
        _ = table.take()
        database = nil
        let database = try directory.open()
        if database.meta.isFolding { crashesInFolds += 1 }
        let folded = database.meta.folded
        #expect(folded == Self.position(Int(folded.sequence)))
        gathered = Int(folded.sequence)
        self.database = database
        if !database.meta.isFolding { try compare(gathered) }
        try database.verify()
    }

    private func compare(_ sequence: Int) throws {
        guard let database, !database.meta.isFolding else { return }
        let evicted = source.evicted
        var found = try StateModel(database).without(evicted)
        var expected = models[sequence].without(evicted)
        #expect(found.highestID >= expected.highestID)
        #expect(found.highestRevision >= expected.highestRevision)
        found.highestID = expected.highestID
        expected.highestRevision = found.highestRevision
        #expect(found == expected, "seed \(seed), record \(sequence)")
        #expect(database.meta.folded == Self.position(sequence))
    }

    private static func position(_ sequence: Int) -> JournalPosition {
        sequence == 0
            ? .start
            : JournalPosition(sequence: UInt64(sequence), hash: UInt64(sequence) &* 0xABCD_EF01)
    }
}
