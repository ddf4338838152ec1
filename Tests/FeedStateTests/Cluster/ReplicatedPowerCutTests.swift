import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// Power cuts of one machine of a cluster, whose journal is synced a little later than it is written.
///
/// `FEED_POWER_CUTS` sets how many there are; `FEED_SEED` replays one run.
@Suite struct ReplicatedStatePowerCutTests {
    @Test func aStartHasThatStateOfTheClusterToWhichItsJournalReaches() throws {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 400)
        if let seed = TestEnvironment.number("FEED_SEED") {
            var run = try ReplicatedStateRun(seed: seed)
            #expect(run.run() == nil, "seed \(seed)")
            return
        }
        var (cutCount, brokenCheckpointCount) = (0, 0)
        var seed = TestEnvironment.firstSeed - 1
        while cutCount < wanted {
            seed += 1
            var run = try ReplicatedStateRun(seed: seed)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
            cutCount += run.cutCount
            brokenCheckpointCount += run.brokenCheckpointCount
        }
        #expect(brokenCheckpointCount > wanted / 40, "\(brokenCheckpointCount)")
    }

    @Test(arguments: [ReplicatedStateRun.Fault.noSync, .earlyStep])
    func noticesAMachineThatIsBrokenOnPurpose(_ fault: ReplicatedStateRun.Fault) throws {
        var count = 0
        for seed in 1...60 as ClosedRange<UInt64> {
            var run = try ReplicatedStateRun(seed: seed, fault: fault)
            if run.run() != nil { count += 1 }
        }
        #expect(count > 3, "\(count) of 60 runs complained.")
    }
}

/// Lives of a machine that follows: it appends the records of a cluster, checkpoints them, and gets again
/// what a power cut takes.
struct ReplicatedStateRun {
    /// What may be broken on purpose, for the audit to notice.
    enum Fault {
        case none
        case noSync
        /// Rows are written of records whose journal was not synced.
        case earlyStep
    }

    /// A record of the cluster, and what the state is behind it.
    private struct Committed {
        var body: [UInt8] = []
        var chain: UInt64
        var hash: UInt64
    }

    private var generator: SeededGenerator
    private let fault: Fault
    private let configuration: JournalConfiguration
    private var disk = FakeDisk()
    /// Takes all records, as a machine that is never cut.
    private let store: FeedStore
    private var chain: RecordChain
    private let first: UInt64
    /// The records from the first one of the cluster on, behind the state that it began with.
    private var log: [Committed]
    /// The last record that a start has to find: of the watermark, or found by a start.
    private var noted: UInt64

    private(set) var cutCount = 0
    /// How many starts have found a checkpoint that was not at its end.
    private(set) var brokenCheckpointCount = 0

    init(seed: UInt64, fault: Fault = .none) throws {
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        var configuration = JournalConfiguration(instanceID: 0)
        configuration.segmentByteCount = 16 << 10
        configuration.space.ballastByteCount = 0
        configuration.drawSalt = { TestSalt.next() }
        store = try Self.oneMachine(disk, configuration)
        let begun = try ClusterBeginning.run(DurableLife.directory(disk, configuration)).last
        configuration.durability = .replicated
        self.configuration = configuration
        chain = RecordChain(after: begun)
        first = begun.number + 1
        log = [Committed(chain: chain.hash, hash: Self.hash(of: store))]
        noted = begun.number
        disk.ignoresSyncs = fault == .noSync
    }

    private static func hash(of store: FeedStore) -> UInt64 {
        store.stateHash() &+ AccountsState().stateHash
    }

    /// The state of a machine that has served alone.
    private static func oneMachine(
        _ disk: FakeDisk,
        _ configuration: JournalConfiguration
    ) throws -> FeedStore {
        defer { disk.revive() }
        let life = try DurableLife(disk, configuration, clock: Locked(1_000))
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        return life.store
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<5 {
            disk.drawPowerCut(after: 400, &generator)
            if let complaint = live() { return complaint }
            guard let found = disk.endLife(&generator) else { continue }
            disk = found
            cutCount += 1
        }
        disk.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        do {
            let verified = try verify()
            let database = try StateDatabase(
                directory: ".",
                files: disk,
                vfs: disk.databaseDiskName
            )
            defer {
                disk.die()
                withExtendedLifetime(database) {}
            }
            if database.meta.isCheckpointing { brokenCheckpointCount += 1 }
            let checkpointed = database.meta.checkpointed
            var configuration = configuration
            configuration.instanceID = database.meta.instanceID
            configuration.known = database.directoryRow?.known ?? .start
            let journal = try SegmentJournal(disk, configuration, checkpointed: checkpointed)
            guard journal.last.number == verified else {
                return "A start finds record \(journal.last.number), not \(verified)."
            }
            noted = verified
            var work = CheckpointWork(database, checkpointByteCount: 1 << 10)
            var found: [(body: [UInt8], position: JournalPosition)] = []
            try journal.replay(after: checkpointed.number) { record, body in
                found.append((Array(copying: body), record.position))
                return true
            }
            for (body, position) in found { try work.add(body, at: position) }
            try follow(journal, &work)
        } catch let complaint as StatePowerCutRun.Complaint {
            return complaint.text
        } catch {
            guard disk.isDead else { return "An error without a power cut: \(error)" }
        }
        disk.die()
        return nil
    }

    /// The last record that a verification finds; it is not below what was noted, and the state is the
    /// cluster's as of that record.
    private func verify() throws -> UInt64 {
        let verified = try StateVerification.run(DurableLife.directory(disk, configuration), 2)
        let last = verified.lastRecord
        guard last >= noted, last < first + UInt64(log.count - 1) else {
            throw complaint("\(last) is the last record, and \(noted) was noted.")
        }
        let expected = log[Int(last + 1 - first)]
        guard verified.stateHash == expected.hash, verified.chain == expected.chain else {
            throw complaint("The state behind record \(last) is another.")
        }
        return last
    }

    private func complaint(_ text: String) -> StatePowerCutRun.Complaint {
        StatePowerCutRun.Complaint(text: text)
    }

    /// Appends records, syncs and checkpoints, in any order in which three threads might.
    private mutating func follow(
        _ journal: SegmentJournal,
        _ work: inout CheckpointWork
    ) throws {
        let sync = ReplicaSync(syncedRecord: journal.last.number) {}
        var now = ContinuousClock.now
        for _ in 0..<Int.random(in: 1...150, using: &generator) {
            let body = try body(of: journal.last.number + 1)
            let position = try journal.append(body.span, count: 1, at: 0)
            try work.add(body, at: position)
            if generator.oneIn(3) { now += .milliseconds(400) }
            let synced = sync.syncedRecord
            try sync.advance(journal, at: now)
            noted = max(noted, synced)
            if generator.oneIn(3) { sync.syncMark() }
            if generator.oneIn(2) { try checkpoint(&work, journal, sync) }
        }
    }

    private mutating func checkpoint(
        _ work: inout CheckpointWork,
        _ journal: SegmentJournal,
        _ sync: ReplicaSync
    ) throws {
        guard let target = work.target else { return work.begin() }
        guard fault == .earlyStep || sync.areDurable(through: target) else { return }
        let limit = Int.random(in: 1...15, using: &generator)
        try work.writeStep(changes: limit, until: { false })
        guard !work.isCheckpointing else { return }
        try journal.forget(through: work.database.meta.checkpointed.number)
    }

    /// A record of the cluster, as it was committed before, or a new one.
    private mutating func body(of number: UInt64) throws -> [UInt8] {
        let place = Int(number + 1 - first)
        if place < log.count { return log[place].body }
        var entries = [StateFixture.post(number, revision: store.revision + 1)]
        for _ in 0..<Int.random(in: 0...2, using: &generator) where number > first {
            let voted = UInt64.random(in: first..<number, using: &generator)
            let counts = PostCounts(
                id: PostID(rawValue: voted),
                upvoteCount: number,
                downvoteCount: 0,
                revision: store.revision + 1 + UInt64(entries.count)
            )
            entries.append(.counts(counts))
        }
        var body = [UInt8](repeating: 0, count: RecordHead.byteCount)
        body += StateFixture.body(entries)
        chain.seal(&body, entryCount: entries.count, at: number)
        _ = try chain.take(body.span, record: number)
        for entry in entries { try store.apply(entry) }
        log.append(Committed(body: body, chain: chain.hash, hash: Self.hash(of: store)))
        return body
    }
}
