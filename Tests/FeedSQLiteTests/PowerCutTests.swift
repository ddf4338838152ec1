import FeedDiskFaults
import FeedJournal
import FeedSQLite
import FeedTestSupport
import Glibc
import Testing

/// That the power may go at any moment, and no transaction that was committed goes with it.
///
/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct PowerCutTests {
    @Test(arguments: [DatabasePowerCutRun.Fault.none, .failingSync])
    func keepsEveryTransactionWhole(_ fault: DatabasePowerCutRun.Fault) {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 400)
        let replayed = TestEnvironment.number("FEED_SEED")
        var cutCount = 0
        var seed = replayed ?? TestEnvironment.firstSeed
        while cutCount < wanted {
            var run = DatabasePowerCutRun(seed: seed, fault: fault)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            guard complaint == nil, replayed == nil else { return }
            cutCount += run.cutCount
            seed += 1
        }
    }

    @Test(arguments: [DatabasePowerCutRun.Fault.lyingDisk, .synchronousNormal])
    func noticesADatabaseThatIsNotSynced(_ fault: DatabasePowerCutRun.Fault) {
        let complaints = (1...30 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = DatabasePowerCutRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 10, "\(complaints.count) of 30 runs complained.")
    }

    @Test func losesNothingBetweenAJournalAndItsCheckpoint() {
        for seed in TestEnvironment.seeds(1...150) {
            var run = CheckpointRun(seed: seed)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
        }
    }

    @Test func noticesAJournalForgottenBeforeItsCheckpoint() {
        let complaints = (1...100 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = CheckpointRun(seed: seed, forgetsEarly: true)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 100 runs complained.")
    }
}

/// A journal and a database it is checkpointed into, on one disk that loses power.
struct CheckpointRun {
    private var generator: SeededGenerator
    private let forgetsEarly: Bool
    private let configuration: JournalConfiguration
    private var disk = FakeDisk()

    /// The bodies of the records that were acknowledged, and the one under way.
    private var acknowledged: [[UInt8]] = []
    private var inFlight: [UInt8]?

    /// `forgetsEarly` forgets records that are not checkpointed yet, for the audit to notice.
    init(seed: UInt64, forgetsEarly: Bool = false) {
        generator = SeededGenerator(seed: seed)
        self.forgetsEarly = forgetsEarly
        var configuration = JournalConfiguration(instanceID: 77)
        configuration.segmentByteCount = 32 << 10
        configuration.space.ballastByteCount = 0
        configuration.drawSalt = { TestSalt.next() }
        self.configuration = configuration
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<8 {
            disk.callsUntilPowerCut = Int.random(in: 0...600, using: &generator)
            if let complaint = live() { return complaint }
            if generator.oneIn(3) { disk.revive() } else { disk = disk.afterPowerCut(&generator) }
        }
        disk.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        var complaint: String?
        do {
            let database = try Database(path: "state.db", vfs: disk.databaseDiskName)
            complaint = live(with: database)
            // A process that dies closes nothing.
            disk.die()
            withExtendedLifetime(database) {}
        } catch {
            if !disk.isDead { complaint = "The database: \(error)" }
        }
        return complaint
    }

    private mutating func live(with database: Database) -> String? {
        do {
            try database.execute("PRAGMA wal_autocheckpoint=20")
            try database.execute(
                "CREATE TABLE IF NOT EXISTS folded (id INTEGER PRIMARY KEY, hash INTEGER, body BLOB)"
            )
            var checkpointed = try checkpointed(database)
            let journal = try SegmentJournal(disk, configuration, checkpointed: checkpointed)
            if let complaint = try audit(database, journal, checkpointed) { return complaint }
            for _ in 0..<Int.random(in: 1...150, using: &generator) {
                try append(to: journal)
                if generator.oneIn(10) { try checkpoint(journal, database, &checkpointed) }
            }
            return nil
        } catch {
            return disk.isDead ? nil : "An error without a power cut: \(error)"
        }
    }

    private mutating func append(to journal: SegmentJournal) throws {
        let byteCount = Int.random(in: 0...900, using: &generator)
        let body = generator.bytes(byteCount)
        inFlight = body
        _ = try journal.append(body.span, count: 0, at: 0)
        acknowledged.append(body)
        inFlight = nil
    }

    /// Moves what is durable into the database, then lets the journal forget it.
    private func checkpoint(
        _ journal: SegmentJournal,
        _ database: Database,
        _ checkpointed: inout JournalPosition
    ) throws {
        let last = journal.last
        if forgetsEarly { try journal.forget(through: last.number) }
        let first = checkpointed.number
        try database.transaction { () throws(StorageError) in
            let insert = try database.prepare("INSERT INTO folded VALUES (?, ?, ?)")
            for number in first..<last.number {
                try insert.bind(number + 1, at: 1)
                try insert.bind(last.hash, at: 2)
                try insert.bind(acknowledged[Int(number)], at: 3)
                try insert.run()
            }
        }
        checkpointed = last
        try journal.forget(through: last.number)
    }

    private func checkpointed(_ database: Database) throws(StorageError) -> JournalPosition {
        let statement = try database.prepare("SELECT id, hash FROM folded ORDER BY id DESC LIMIT 1")
        guard try statement.step() else { return .start }
        return JournalPosition(number: statement.uint64(0), hash: statement.uint64(1))
    }

    private mutating func audit(
        _ database: Database,
        _ journal: SegmentJournal,
        _ checkpointed: JournalPosition
    ) throws -> String? {
        var found: [[UInt8]] = []
        let statement = try database.prepare("SELECT body FROM folded ORDER BY id")
        while try statement.step() { found.append(statement.blob(0) ?? []) }
        try journal.replay(after: checkpointed.number) { _, body in
            var bytes: [UInt8] = []
            for index in body.indices { bytes.append(body[index]) }
            found.append(bytes)
            return true
        }
        // Not acknowledged, and there: from here on it stands.
        if let inFlight, found.count > acknowledged.count { acknowledged.append(inFlight) }
        inFlight = nil
        guard found != acknowledged else { return nil }
        return "\(found.count) records, expected \(acknowledged.count)."
    }
}

/// Lives of a database on a disk that loses power, audited after each by what its writer remembers.
struct DatabasePowerCutRun {
    enum Fault {
        case none
        /// Syncs fail now and then, and the process ends there; nothing may be lost.
        case failingSync
        /// The disk says that it has synced, and has not.
        case lyingDisk
        /// SQLite does not sync its log at each transaction.
        case synchronousNormal
    }

    private var generator: SeededGenerator
    private let fault: Fault
    private var disk = FakeDisk()
    private var acknowledged: Rows = [:]

    /// The rows after what was under way when the power went.
    private var inFlight: Rows?

    private(set) var cutCount = 0

    init(seed: UInt64, fault: Fault = .none) {
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        disk.ignoresSyncs = fault == .lyingDisk
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<6 {
            disk.drawPowerCut(after: 30, or: 400, &generator)
            if let complaint = live() { return complaint }
            guard let found = disk.endLife(&generator) else { continue }
            disk = found
            cutCount += 1
        }
        disk.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        disk.failure = { _, _ in nil }
        let closes = generator.oneIn(4)
        var complaint: String?
        do throws(StorageError) {
            let database = try Database(path: "state.db", vfs: disk.databaseDiskName)
            complaint = live(with: database)
            // A process that dies closes nothing.
            if !closes { disk.die() }
            withExtendedLifetime(database) {}
        } catch {
            complaint = self.complaint(error)
        }
        return complaint
    }

    private mutating func live(with database: Database) -> String? {
        do throws(StorageError) {
            if fault == .synchronousNormal { try database.execute("PRAGMA synchronous=NORMAL") }
            // Pages go from the log to the file often, and a few at a time.
            try database.execute("PRAGMA wal_autocheckpoint=\(generator.oneIn(2) ? 4 : 40)")
            try database.createRows()
            if let complaint = try audit(database) { return complaint }
            if fault == .failingSync { failSyncs() }
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                try write(database)
                if generator.oneIn(15) { try database.checkpointLog() }
            }
            return nil
        } catch {
            return complaint(error)
        }
    }

    /// What is wrong with an error, nil where the power or a failed sync explains it.
    private func complaint(_ error: StorageError) -> String? {
        if disk.isDead { return nil }
        if fault == .failingSync, error.sqlite?.kind == .io {
            disk.die()
            return nil
        }
        return "An error without a power cut: \(error)"
    }

    private mutating func failSyncs() {
        var remaining = Int.random(in: 0...60, using: &generator)
        disk.failure = { call, _ in
            guard call == .sync else { return nil }
            remaining -= 1
            return remaining < 0 ? EIO : nil
        }
    }

    private mutating func write(_ database: Database) throws(StorageError) {
        let transaction = RandomTransaction(&generator)
        let after = transaction.applied(to: acknowledged)
        inFlight = after
        try database.transaction { () throws(StorageError) in try transaction.write(to: database) }
        acknowledged = after
        inFlight = nil
    }

    private mutating func audit(_ database: Database) throws(StorageError) -> String? {
        let problems = try database.integrityProblems()
        guard problems.isEmpty else { return "Not intact: \(problems)" }
        let found = try database.rows()
        // Not acknowledged, and there whole: from here on it stands.
        if let inFlight, found == inFlight { acknowledged = inFlight }
        inFlight = nil
        guard found != acknowledged else { return nil }
        let common = found.count { acknowledged[$0.key] == $0.value }
        return "\(found.count) rows, expected \(acknowledged.count); \(common) of them agree."
    }
}

/// The rows of a table, as their writer remembers them.
typealias Rows = [Int64: [UInt8]]

/// Changes of some rows that stand or fall together.
struct RandomTransaction {
    private var changes: [(id: Int64, value: [UInt8]?)] = []

    /// Draws up to 20 changes of a few hundred rows; values are short, mostly.
    init(_ generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
            let id = Int64.random(in: 0..<300, using: &generator)
            let longest = generator.oneIn(10) ? 9000 : 200
            let byteCount = Int.random(in: 0...longest, using: &generator)
            let value = generator.oneIn(5) ? nil : generator.bytes(byteCount)
            changes.append((id, value))
        }
    }

    func applied(to rows: Rows) -> Rows {
        var rows = rows
        for (id, value) in changes { rows[id] = value }
        return rows
    }

    /// Makes the changes, in a transaction of the caller's.
    func write(to database: Database) throws(StorageError) {
        let insert = try database.prepare("INSERT OR REPLACE INTO t VALUES (?, ?)")
        let delete = try database.prepare("DELETE FROM t WHERE id = ?")
        for (id, value) in changes {
            let statement = value == nil ? delete : insert
            try statement.bind(id, at: 1)
            if let value { try statement.bind(value, at: 2) }
            try statement.run()
        }
    }
}

extension Database {
    /// Makes the table of the rows, and an index that has to agree with it.
    func createRows() throws(StorageError) {
        try transaction { () throws(StorageError) in
            try execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, value BLOB)")
            try execute("CREATE INDEX IF NOT EXISTS by_length ON t (length(value))")
        }
    }

    func rows() throws(StorageError) -> Rows {
        let statement = try prepare("SELECT id, value FROM t")
        var rows: Rows = [:]
        while try statement.step() { rows[statement.int64(0)] = statement.blob(1) }
        return rows
    }
}
