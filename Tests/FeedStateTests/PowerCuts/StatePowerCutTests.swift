import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

/// That the power may go at any moment, and nothing that a client was told goes with it: the
/// journal, the database and all of recovery on one disk.
///
/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct StatePowerCutTests {
    @Test(arguments: [StatePowerCutRun.Fault.none, .failingSync])
    func keepsEveryAnsweredCallOnce(_ fault: StatePowerCutRun.Fault) async throws {
        let usual: UInt64 = fault == .none ? 2000 : 1000
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? usual)
        let replayed = TestEnvironment.number("FEED_SEED")
        var seed = replayed ?? TestEnvironment.firstSeed
        var cutCount = 0
        var checkpointCount = 0
        var backupCount = 0
        while cutCount < wanted {
            // On a thread of its own, beside which other tests wait for sockets.
            let lives = try await offload { [seed] in
                let keepsJournal = seed.isMultiple(of: 2)
                var run = StatePowerCutRun(seed: seed, fault: fault, keepsJournal: keepsJournal)
                return (
                    complaint: run.run(), cutCount: run.cutCount,
                    checkpointCount: run.checkpointCount,
                    backupCount: run.backupCount
                )
            }
            #expect(lives.complaint == nil, "seed \(seed)")
            guard lives.complaint == nil, replayed == nil else { return }
            cutCount += lives.cutCount
            checkpointCount += lives.checkpointCount
            backupCount += lives.backupCount
            seed += 1
        }
        #expect(checkpointCount > wanted / 4, "Only \(checkpointCount) checkpoints ended.")
        #expect(backupCount > wanted / 8, "Only \(backupCount) backups were made.")
    }

    /// The same while the directory becomes a cluster's, whose records have heads.
    @Test func keepsEveryAnsweredCallOfACluster() async throws {
        var seed = TestEnvironment.number("FEED_SEED") ?? TestEnvironment.firstSeed
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 2000) / 4
        var (cutCount, clusterCount) = (0, 0)
        while cutCount < wanted {
            let lives = try await offload { [seed] in
                let keepsJournal = seed.isMultiple(of: 2)
                var run = StatePowerCutRun(seed: seed, keepsJournal: keepsJournal)
                run.beginsCluster = true
                return (
                    complaint: run.run(), cutCount: run.cutCount, clusterCount: run.clusterCount
                )
            }
            #expect(lives.complaint == nil, "seed \(seed)")
            guard lives.complaint == nil else { return }
            cutCount += lives.cutCount
            clusterCount += lives.clusterCount
            seed += 1
        }
        #expect(clusterCount > wanted / 20, "Only \(clusterCount) directories became a cluster's.")
    }

    @Test(arguments: [
        StatePowerCutRun.Fault.noSync, .earlyAnswer, .forgottenOutcomes, .forgottenMarks,
        .forgottenUsers, .earlyForget,
    ])
    func noticesAServiceThatIsBrokenOnPurpose(_ fault: StatePowerCutRun.Fault) {
        let complaints = (1...60 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = StatePowerCutRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 60 runs complained.")
    }
}

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
        case forgottenMarks
        /// The voter numbers of users are not logged.
        case forgottenUsers
        /// The journal forgets the records that a checkpoint has begun to write.
        case earlyForget
    }

    struct Snapshot {
        var model = CommandModel()
        /// The store's own hash; nil of a directory that is not there yet.
        var hash: UInt64?
    }

    struct Complaint: Error {
        let text: String
    }

    var generator: SeededGenerator
    let fault: Fault
    /// Whether the directory becomes a cluster's between two lives.
    var beginsCluster = false
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
    var answered: [ClientCall] = []
    var sequences: [UInt32: UInt64] = [:]

    /// The hash of the state as of each record, which a backup up to that record must have.
    var hashes: [UInt64: UInt64] = [:]
    /// The bytes of each backup that was begun, by its name, and those that were told to be made.
    var backups: [String: [UInt8]] = [:]
    var completeBackups: Set<String> = []
    /// The backup under way in this life.
    var backup: BackupJob?
    var backupCount = 0

    private(set) var cutCount = 0
    /// Checkpoints that ended, and those that a start found interrupted.
    var checkpointCount = 0
    private(set) var brokenCheckpointCount = 0
    /// How often the directory became a cluster's.
    private(set) var clusterCount = 0

    /// Lives that follow from the seed; with another hash, what the journal has is checked by that.
    ///
    /// A run that keeps its journal replays all of it now and then.
    init(seed: UInt64, fault: Fault = .none, hash: RecordHash = .xxh3, keepsJournal: Bool = false) {
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
            disk.drawPowerCut(after: 150, or: 1500, &generator)
            if let complaint = live() { return complaint }
            guard let found = disk.endLife(&generator) else { continue }
            disk = found
            cutCount += 1
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
            try beginClusterIfDue()
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

    /// Makes the directory a cluster's now and then, if it is to become one; the power may go meanwhile.
    private mutating func beginClusterIfDue() throws {
        guard beginsCluster, generator.oneIn(3), disk.names.contains(StateDatabase.fileName) else {
            return
        }
        do throws(StateStartError) {
            try beginCluster()
            clusterCount += 1
        } catch {
            guard case .ofCluster = error else { throw error }
        }
    }

    /// Makes the directory a cluster's.
    func beginCluster() throws(StateStartError) {
        _ = try ClusterBeginning.run(DurableLife.directory(disk, journal))
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

// Backups, some steps at a time between calls, commits and checkpoints.
extension StatePowerCutRun {
    /// Continues a backup, or begins one.
    mutating func backUp(_ life: inout DurableLife) throws {
        let database = life.state.checkpointWork.database
        guard let job = backup else {
            guard !database.meta.isCheckpointing else { return }
            var options = BackupOptions()
            options.keptCount = 3
            options.stepByteCount = 16 << 10
            let job = try BackupJob(of: database, options, reservedByteCount: 0)
            try job.open()
            backups[job.name] = disk[StateDatabase.fileName]
            backup = job
            return
        }
        guard try job.step() else { return }
        do {
            try job.verify()
            let (made, removed) = try job.finish()
            completeBackups.insert(made.name)
            completeBackups.subtract(removed)
            // A call of a removal that failed may have removed the backup all the same.
            let names = Set(disk.names)
            completeBackups = completeBackups.filter { name in
                names.contains("\(BackupFolders.directory)/\(name)/\(StateDatabase.fileName)")
            }
            guard completeBackups.contains(made.name) else {
                throw Complaint(text: "Backup \(made.name) was removed when it was complete.")
            }
            if generator.oneIn(2) { try verifyBackup(made.name) }
        } catch {
            completeBackups = []
            throw error
        }
        backupCount += 1
        backup = nil
        try database.thaw()
    }

    /// Throws unless what a restore of a backup would load is the state as of its last record.
    private func verifyBackup(_ name: String) throws {
        let copy = FakeDisk()
        copy[StateDatabase.fileName] = backups[name]
        let vfs = copy.databaseDiskName
        let database = try StateDatabase.look(directory: ".", files: copy, vfs: vfs)
        let expected = hashes[database.meta.checkpointed.number]
        guard try expected == nil || expected == StateFixture.storeHash(database) else {
            throw Complaint(text: "Backup \(name) is another state than its last record's.")
        }
    }

    /// Throws unless each backup that is there is what it was begun of.
    ///
    /// None is gone that was told to be made; of the others nothing stays.
    mutating func auditBackups() throws {
        backup = nil
        _ = try BackupFolders.removeLeftovers(disk)
        let found = try BackupFolders.complete(disk)
        for name in found {
            let path = "\(BackupFolders.directory)/\(name)/\(StateDatabase.fileName)"
            guard disk[path] == backups[name] else {
                throw Complaint(text: "Backup \(name) is not the state that it was made of.")
            }
        }
        guard completeBackups.isSubset(of: found) else {
            throw Complaint(text: "Of backups \(completeBackups), \(found) are left.")
        }
        let files = disk.names.filter { $0.hasPrefix(BackupFolders.directory + "/") }
        guard files.count == found.count else {
            throw Complaint(text: "Something is left of backups: \(files).")
        }
    }
}

// What clients do.
extension StatePowerCutRun {
    /// A call, a commit batch, or a checkpoint step.
    mutating func turn(_ life: inout DurableLife, checkpoints: Bool = true) throws {
        clock.withLock { $0 += Int64.random(in: 0..<5, using: &generator) }
        // Another call of the largest kind has to fit into the record too.
        if life.state.logs.waitingByteCount > 1_000 { try commit(&life) }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<6: try call(&life)
        case 6, 7: try commit(&life)
        case 8 where generator.oneIn(4): try sweepMarks(&life)
        default: if checkpoints { try checkpoint(&life) }
        }
    }

    /// Sends again what was not answered in an earlier life.
    mutating func resend(_ life: inout DurableLife) throws {
        let unanswered = pending
        pending = []
        for (index, call) in unanswered.enumerated() {
            do {
                try open(call.channel, life)
                try perform(call, &life)
            } catch {
                pending += unanswered[index...].filter { !pending.contains($0) }
                throw error
            }
        }
    }

    private mutating func call(_ life: inout DurableLife) throws {
        if generator.oneIn(12), let old = answered.randomElement(using: &generator) {
            // A repeat of what was answered: it is known, or too old to be asked for.
            let highest = sequences[old.channel] ?? 0
            if old.sequence + 200 > highest { try perform(old, &life) }
            return
        }
        var call = ClientCall(command: .random(model, &accounts, &generator))
        if generator.oneIn(2) {
            call.channel = UInt32.random(in: 1...3, using: &generator)
            try open(call.channel, life)
            let skipped: UInt64 = generator.oneIn(30) ? 90 : 0
            call.sequence = (sequences[call.channel] ?? 0) + 1 + skipped
            sequences[call.channel] = call.sequence
        }
        try perform(call, &life)
    }

    private mutating func open(_ channel: UInt32, _ life: borrowing DurableLife) throws {
        let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
        log.transaction { life.channels.open(channel, log) }
        if model.calls[channel] == nil { model.calls[channel] = [:] }
    }

    private mutating func perform(_ call: ClientCall, _ life: inout DurableLife) throws {
        let known = call.isNumbered ? life.channels.outcome(of: call) : nil
        let expected = call.isNumbered ? model.calls[call.channel]?[call.sequence] : nil
        guard known?.outcome == expected, known == nil || known?.requestHash == call.hash else {
            throw Complaint(
                text: "Call \(call.sequence) of channel \(call.channel) is answered "
                    + "\(String(describing: known)), expected \(String(describing: expected))."
            )
        }
        if case .batch(let ids) = call.command {
            try perform(ids, call, known?.outcome, &life)
            return
        }
        guard known == nil else { return }
        if call.isNumbered { pending.append(call) }
        let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
        let command = call.command.allowed(by: model.viewers)
        let outcome = log.transaction {
            let outcome = life.execute(command, log)
            record(outcome, call, life, log)
            return outcome
        }
        let told = model.execute(command, at: clock.withLock { $0 })
        // A mark that says nothing new takes no revision.
        if call.command.isMark { model.revision = life.store.revision }
        if call.isNumbered, let told { model.calls[call.channel]?[call.sequence] = told }
        guard outcome == told else {
            throw Complaint(
                text: "\(call.command): \(String(describing: outcome)), not "
                    + String(describing: told)
            )
        }
    }

    /// Has the store forget marks that say nothing any more, which changes nothing for their viewers.
    private mutating func sweepMarks(_ life: inout DurableLife) throws {
        try commit(&life)
        let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
        log.transaction {
            for _ in 0..<20 { life.store.sweepMarks(&sweep, sink: log) }
        }
        model.revision = life.store.revision
    }

    /// Executes the items of a batch that are not done yet, with commit batches between them.
    private mutating func perform(
        _ ids: [UInt64],
        _ call: ClientCall,
        _ known: Outcome?,
        _ life: inout DurableLife
    ) throws {
        var done = ItemMask()
        if case .items(let mask) = known { done = mask }
        let voter = CommandModel.voters[0]
        let isPending = call.isNumbered && !answered.contains(call)
        for (item, id) in ids.enumerated() where !done[item] {
            // Its answer comes with the last item, so until then it stays without one.
            if isPending, !pending.contains(call) { pending.append(call) }
            let log = life.state.logs[Int.random(in: 0..<2, using: &generator)]
            let isDone = log.transaction {
                let isDone = life.execute(.vote(id, .up, by: voter), log) != nil
                done[item] = true
                record(.items(done), call, life, log)
                return isDone
            }
            let told = model.upvote(id, by: voter, at: clock.withLock { $0 })
            if call.isNumbered { model.calls[call.channel]?[call.sequence] = .items(done) }
            guard isDone == told else { throw Complaint(text: "Item \(item) of \(call.command)") }
            if generator.oneIn(6) { try commit(&life) }
        }
    }

    /// Remembers the outcome of a numbered call, in the transaction that executed it.
    private func record(
        _ outcome: Outcome?,
        _ call: ClientCall,
        _ life: borrowing DurableLife,
        _ log: ChangeLog
    ) {
        guard call.isNumbered, let outcome, let number = life.channels.number(of: call.channel)
        else { return }
        let recorded = ChannelOutcome(
            channel: number,
            sequence: call.sequence,
            requestHash: call.hash,
            outcome: outcome
        )
        life.channels.record(recorded)
        if fault != .forgottenOutcomes { log.append(recorded) }
    }
}

// What the threads behind the loops do, and what is checked after a start.
extension StatePowerCutRun {
    /// Makes durable what was logged, then answers it.
    mutating func commit(_ life: inout DurableLife) throws {
        let batch = life.state.logs.openBatch
        guard life.state.logs.newestBatch == batch else { return }
        let snapshot = Snapshot(
            model: model,
            hash: life.store.stateHash() &+ model.viewers.accountsState.stateHash
        )
        if fault == .earlyAnswer { answer(snapshot) }
        inFlight = snapshot
        hashes[batch] = snapshot.hash
        guard let (body, position) = try life.append(), position.number == batch else {
            throw Complaint(text: "A batch has two numbers.")
        }
        answer(snapshot)
        inFlight = nil
        try life.state.checkpointWork.add(body, at: position)
    }

    /// All calls of the commit batch are answered, save a vote batch that is not at its end.
    private mutating func answer(_ snapshot: Snapshot) {
        durable = snapshot
        answered += pending.filter(isDone)
        pending = pending.filter { !isDone($0) }
    }

    private func isDone(_ call: ClientCall) -> Bool {
        guard case .batch(let ids) = call.command,
            case .items(let mask) = durable.model.calls[call.channel]?[call.sequence]
        else { return true }
        return ids.indices.allSatisfy { mask[$0] }
    }

    /// Writes a step, or begins a checkpoint; the journal forgets checkpointed records.
    mutating func checkpoint(_ life: inout DurableLife) throws {
        if life.state.checkpointWork.isCheckpointing {
            let limit = Int.random(in: 1...15, using: &generator)
            try life.state.checkpointWork.writeStep(changes: limit, until: { false })
            guard !life.state.checkpointWork.isCheckpointing else { return }
            checkpointCount += 1
            let checkpointed = life.state.checkpointWork.database.meta.checkpointed.number
            try life.state.journal.forget(through: checkpointed)
        } else if life.state.checkpointWork.addedByteCount > 0 {
            life.state.checkpointWork.begin()
            guard fault == .earlyForget else { return }
            try life.state.journal.forget(through: life.state.journal.last.number)
        }
    }

    /// Throws unless a start has found all that was answered, and all or nothing of the commit
    /// batch under way.
    mutating func audit(_ life: borrowing DurableLife) throws {
        life.store.checkInvariants()
        let candidates = [durable] + (inFlight.map { [$0] } ?? [])
        let alike = candidates.filter { $0.model.difference(to: life) == nil }
        guard !alike.isEmpty else {
            throw Complaint(text: durable.model.difference(to: life) ?? "")
        }
        // Both are alike where nothing is in flight but marks that say nothing any more.
        let hash = life.stateHash
        guard let found = alike.first(where: { $0.hash == nil || $0.hash == hash }) else {
            throw Complaint(text: "The state is the same, and its hash another.")
        }
        // No revision that anybody has seen is given again.
        let seen = max(durable.model.revision, inFlight?.model.revision ?? 0)
        guard found.hash == nil || life.store.revision > seen else {
            throw Complaint(text: "Revision \(life.store.revision) is not above \(seen).")
        }
        // From here on it stands, acknowledged or not.
        model = found.model
        model.revision = life.store.revision
        durable = Snapshot(model: model, hash: hash)
        inFlight = nil
        hashes[life.state.summary.last.number] = hash
        answered.removeAll { model.calls[$0.channel]?[$0.sequence] == nil }
    }
}
