import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc

/// Lives of the whole durable state on a disk that loses power, audited after each start by what
/// clients were told.
struct StatePowerCutRun {
    /// What may be broken on purpose, for the audit to notice.
    enum Fault {
        case none
        /// Syncs fail now and then, and the process ends there; nothing may be lost.
        case failingSync
        /// The disk says that it has synced, and has not.
        case noSync
        /// Calls are answered before their commit batch is appended.
        case earlyAnswer
        /// The outcomes of numbered calls are not logged.
        case forgottenOutcomes
        /// The marks of viewers are not logged.
        case forgottenMarks
        /// The voter numbers of users are not logged.
        case forgottenUsers
        /// The journal forgets the records that a checkpoint has begun to write.
        case earlyForget
    }

    /// The state as of a commit batch.
    struct Snapshot {
        var model = CommandModel()
        /// The store's own hash; nil of a directory that is not there yet.
        var hash: UInt64?
    }

    /// What an audit found.
    struct Complaint: Error {
        let text: String
    }

    var generator: SeededGenerator
    let fault: Fault
    var accounts = AccountEntrySource()
    var sweep = MarkSweep()
    var journal: JournalConfiguration
    let clock = Locked<Int64>(2_000_000)
    var disk = FakeDisk()

    /// What every call came to that was executed in this life.
    var model = CommandModel()
    /// The state as of the last commit batch that was acknowledged.
    var durable = Snapshot()
    /// The state as of the commit batch that was under way when the power went.
    var inFlight: Snapshot?

    /// Numbered calls without an answer, in their order: their client sends them again.
    var pending: [ClientCall] = []
    /// Numbered calls that were answered.
    var answered: [ClientCall] = []
    /// The latest sequence of each channel.
    var sequences: [UInt32: UInt64] = [:]

    /// The hash of the state as of each record, which a backup up to that record must have.
    var hashes: [UInt64: UInt64] = [:]
    /// The bytes of each backup that was begun, by its name, and those that were told to be made.
    var backups: [String: [UInt8]] = [:]
    var completeBackups: Set<String> = []
    /// The backup under way in this life.
    var backup: BackupJob?
    var backupCount = 0

    /// How often the power went.
    private(set) var cutCount = 0
    /// Checkpoints that ended, and those that a start found interrupted.
    var checkpointCount = 0
    private(set) var brokenCheckpointCount = 0

    /// Lives that follow from the seed; with another hash, what the journal has is checked by that.
    ///
    /// A run that keeps its journal replays all of it now and then.
    init(
        seed: UInt64,
        fault: Fault = .none,
        hash: RecordHash = .xxh3,
        keepsJournal: Bool = false
    ) {
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 16 << 10
        if keepsJournal { journal.keptMicroseconds = .max / 2 }
        journal.space.ballastByteCount = 0
        journal.drawSalt = { TestSalt.next() }
        journal.hash = hash
        self.journal = journal
        disk.ignoresSyncs = fault == .noSync
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<8 {
            if !generator.oneIn(10) {
                let longest = generator.oneIn(2) ? 150 : 1500
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

    /// One life without a power cut, whose every call is answered; for other tests.
    mutating func write(turns: Int, checkpoints: Bool) throws {
        var life = try DurableLife(disk, journal, clock: clock)
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        try audit(life)
        try database.connection.execute("PRAGMA wal_autocheckpoint=60")
        for _ in 0..<turns { try turn(&life, checkpoints: checkpoints) }
        try commit(&life)
        // Else most of the database is in its log.
        if generator.oneIn(2) { try database.connection.checkpointLog() }
    }

    /// A start that finds all that was answered.
    mutating func start() throws {
        let life = try DurableLife(disk, journal, clock: clock)
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        try audit(life)
    }

    /// One life, whose end closes nothing.
    private mutating func live() -> String? {
        disk.failure = { _, _ in nil }
        var hasFailed = { false }
        do {
            let verified = try verify()
            var life = try DurableLife(disk, journal, clock: clock)
            life.fault = fault
            // The disk has to be dead when the connection is closed, however this ends.
            let database = life.state.checkpointWork.database
            defer {
                disk.die()
                withExtendedLifetime(database) {}
            }
            if database.meta.isCheckpointing { brokenCheckpointCount += 1 }
            try audit(life)
            try auditBackups()
            guard verified == nil || verified == durable.hash else {
                throw Complaint(text: "A start finds another state than its verification did.")
            }
            if fault == .failingSync { hasFailed = failSyncs() }
            // Pages go from the log to the file often, and a few at a time.
            let pages = generator.oneIn(2) ? 8 : 60
            try database.connection.execute("PRAGMA wal_autocheckpoint=\(pages)")
            try resend(&life)
            for _ in 0..<Int.random(in: 1...200, using: &generator) {
                try turn(&life)
                if generator.oneIn(10) { try backUp(&life) }
            }
        } catch let complaint as Complaint {
            return complaint.text
        } catch {
            guard disk.isDead || hasFailed() else {
                return "An error without a power cut: \(error)"
            }
        }
        disk.die()
        return nil
    }

    /// Now and then, what there is by its verification: the hash of the state.
    private mutating func verify() throws -> UInt64? {
        guard generator.oneIn(5), disk.names.contains(StateDatabase.fileName) else { return nil }
        let keepsJournal = journal.keptMicroseconds > 0
        let directory = DurableLife.directory(disk, journal)
        let verified = try StateVerification.run(directory, 2, replaysAll: keepsJournal)
        guard !keepsJournal || verified.replayedHash == verified.stateHash else {
            throw Complaint(text: "The journal that was kept gives another state.")
        }
        return verified.stateHash
    }

    /// Lets one of the next syncs fail, and those after it; the result says whether one has.
    private mutating func failSyncs() -> () -> Bool {
        var remaining = Int.random(in: 0...100, using: &generator)
        disk.failure = { call, _ in
            guard call == .sync || call == .syncDirectory else { return nil }
            remaining -= 1
            return remaining < 0 ? EIO : nil
        }
        return { remaining < 0 }
    }
}
