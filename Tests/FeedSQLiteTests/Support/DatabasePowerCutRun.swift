import FeedDiskFaults
import FeedSQLite
import FeedTestSupport
import Glibc

/// Lives of a database on a disk that loses power, audited after each by what its writer remembers.
struct DatabasePowerCutRun {
    /// What is wrong on purpose.
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

    /// How often the power went.
    private(set) var cutCount = 0

    init(seed: UInt64, fault: Fault = .none) {
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        disk.ignoresSyncs = fault == .lyingDisk
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<6 {
            if !generator.oneIn(10) {
                let longest = generator.oneIn(2) ? 30 : 400
                disk.callsUntilPowerCut = Int.random(in: 0...longest, using: &generator)
            }
            if let complaint = live() { return complaint }
            if generator.oneIn(3) {
                // The process alone dies: what it wrote is in the system's memory still.
                disk.revive()
            } else {
                disk = disk.afterPowerCut(&generator)
                cutCount += 1
            }
        }
        disk.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        disk.failure = { _, _ in nil }
        let closes = generator.oneIn(4)
        var complaint: String?
        do throws(SQLiteError) {
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
        do throws(SQLiteError) {
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
    private func complaint(_ error: SQLiteError) -> String? {
        if disk.isDead { return nil }
        if fault == .failingSync, case .io = error {
            disk.die()
            return nil
        }
        return "An error without a power cut: \(error)"
    }

    /// Lets one of the next syncs fail, and those after it.
    private mutating func failSyncs() {
        var remaining = Int.random(in: 0...60, using: &generator)
        disk.failure = { call, _ in
            guard call == .sync else { return nil }
            remaining -= 1
            return remaining < 0 ? EIO : nil
        }
    }

    private mutating func write(_ database: Database) throws(SQLiteError) {
        let transaction = RandomTransaction(&generator)
        let after = transaction.applied(to: acknowledged)
        inFlight = after
        try database.transaction { () throws(SQLiteError) in try transaction.write(to: database) }
        acknowledged = after
        inFlight = nil
    }

    private mutating func audit(_ database: Database) throws(SQLiteError) -> String? {
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
