import FeedDiskFaults
import FeedJournal
import FeedSQLite
import FeedTestSupport

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
        try database.transaction { () throws(SQLiteError) in
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

    private func checkpointed(_ database: Database) throws(SQLiteError) -> JournalPosition {
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
