import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc
import Testing

/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct ReplicatedPowerCutTests {
    @Test(arguments: [ReplicatedRun.Fault.none, .failingSync])
    func aStartHasAPrefixWithAllUpToTheWatermark(_ fault: ReplicatedRun.Fault) {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 2000)
        if let seed = TestEnvironment.number("FEED_SEED") {
            var run = ReplicatedRun(seed: seed, fault: fault)
            #expect(run.run() == nil, "seed \(seed)")
            return
        }
        var (powerCutCount, cutCount) = (0, 0)
        var seed = TestEnvironment.firstSeed - 1
        while powerCutCount < wanted {
            seed += 1
            var run = ReplicatedRun(seed: seed, fault: fault)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
            powerCutCount += run.powerCutCount
            cutCount += run.cutCount
        }
        // Else the runs would show nothing of the rule that is different from one machine's.
        #expect(cutCount > wanted / 40, "\(cutCount) starts have cut damage off.")
    }

    @Test(
        arguments: [
            .noSync, .earlyWatermark, .earlyCheckpoint, .nothingCut, .blindHash,
        ] as [ReplicatedRun.Fault]
    )
    func noticesAJournalThatIsBrokenOnPurpose(_ fault: ReplicatedRun.Fault) {
        let complaints = (1...300 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = ReplicatedRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 300 runs complained.")
    }
}

/// Lives of a journal that is synced a little later, audited after each by what its writer remembers.
struct ReplicatedRun {
    /// What may be broken on purpose, for the audit to notice.
    enum Fault {
        case none
        /// Syncs fail now and then, and the process ends there; nothing that was noted may be lost.
        case failingSync
        case noSync
        /// The watermark is written before the sync.
        case earlyWatermark
        /// Records are kept elsewhere, as in `state.db`, before they are synced.
        case earlyCheckpoint
        /// A start refuses what it might cut off.
        case nothingCut
        case blindHash
    }

    private var generator: SeededGenerator
    private let fault: Fault
    private let configuration: JournalConfiguration
    private var files = FakeDisk()

    /// What was appended, one record that was under way perhaps among it; places are numbers, from 1.
    private var written: [WrittenRecord] = []
    private var positions: [JournalPosition] = [.start]
    /// The last record that a start has to find: of the watermark, or found by a start.
    private var noted = 0
    /// The last one whose sync has ended.
    private var synced = 0
    private var checkpointed = 0

    private(set) var powerCutCount = 0
    /// How many starts have cut damage off.
    private(set) var cutCount = 0

    init(seed: UInt64, fault: Fault = .none) {
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        var configuration = JournalConfiguration.small()
        configuration.durability = .replicated
        if fault == .blindHash { configuration.hash = RecordHash { _, _ in 1 } }
        self.configuration = configuration
        files.ignoresSyncs = fault == .noSync
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<6 {
            files.drawPowerCut(after: 20, or: 300, &generator)
            if let complaint = live() { return complaint }
            guard let found = files.endLife(&generator) else { continue }
            files = found
            powerCutCount += 1
        }
        files.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        files.failure = { _, _ in nil }
        do {
            let position = positions[checkpointed]
            let journal = try SegmentJournal(files, configuration, checkpointed: position)
            if let complaint = try audit(journal) { return complaint }
            if fault == .failingSync { failSyncs() }
            do {
                try append(to: journal)
            } catch {
                guard fault == .failingSync else { throw error }
            }
        } catch {
            guard files.isDead else { return "An error without a power cut: \(error)" }
        }
        return nil
    }

    private mutating func append(to journal: SegmentJournal) throws {
        var mark: SyncMark?
        for _ in 0..<Int.random(in: 1...120, using: &generator) {
            let record = WrittenRecord.random(UInt64(written.count + 1), &generator)
            written.append(record)
            positions.append(try journal.append(record))
            // Other records come between each of these steps.
            if mark == nil, generator.oneIn(5) {
                mark = try journal.syncMark()
            } else if let under = mark, generator.oneIn(3) {
                try end(under, journal)
                mark = nil
            }
            if generator.oneIn(20) { try checkpoint(journal) }
        }
    }

    private mutating func end(_ mark: SyncMark, _ journal: SegmentJournal) throws {
        if fault == .earlyWatermark {
            noted = Int(mark.position.number)
            return try journal.noteSynced(mark)
        }
        do throws(StorageError) {
            try mark.sync()
        } catch {
            journal.noteFailedSync(error)
            throw error
        }
        synced = Int(mark.position.number)
        if generator.oneIn(4) { try checkpoint(journal) }
        noted = synced
        try journal.noteSynced(mark)
    }

    private mutating func checkpoint(_ journal: SegmentJournal) throws {
        let newest = fault == .earlyCheckpoint ? positions.count - 1 : synced
        guard newest >= checkpointed else { return }
        checkpointed = Int.random(in: checkpointed...newest, using: &generator)
        try journal.forget(through: UInt64(checkpointed))
    }

    private mutating func failSyncs() {
        var remaining = Int.random(in: 0...20, using: &generator)
        files.failure = { call, _ in
            guard call == .sync || call == .syncDirectory else { return nil }
            remaining -= 1
            return remaining < 0 ? EIO : nil
        }
    }

    /// A start has a prefix of what was appended, with all that was noted; the other machines give the rest
    /// again, here with other bytes.
    private mutating func audit(_ journal: SegmentJournal) throws -> String? {
        if let problem = journal.cutProblem {
            cutCount += 1
            if fault == .nothingCut { return "\(problem)" }
        }
        let found = try journal.records(after: UInt64(checkpointed))
        let last = Int(journal.last.number)
        guard last >= max(noted, checkpointed), last <= written.count,
            found == Array(written[checkpointed..<last])
        else {
            return "After record \(checkpointed): up to \(last), \(found.count) records; noted are "
                + "\(noted), written \(written.count)."
        }
        guard last == positions.count || positions[last] == journal.last else {
            return "Record \(last) is another."
        }
        written.removeLast(written.count - last)
        positions = Array(positions.prefix(last)) + [journal.last]
        (noted, synced) = (last, last)
        return nil
    }
}

/// What a start does with damage below and above the watermark, and how marks are taken.
@Suite struct ReplicatedJournalTests {
    private let files = FakeDisk()
    private static let watermark = 10

    private static var configuration: JournalConfiguration {
        var configuration = JournalConfiguration.small()
        configuration.durability = .replicated
        return configuration
    }

    private func record(_ number: Int, byteCount: Int = 3000) -> WrittenRecord {
        let body = [UInt8](repeating: UInt8(number), count: byteCount)
        return WrittenRecord(number: UInt64(number), count: 1, microseconds: 5, body: body)
    }

    private func open(
        _ durability: Durability = .replicated,
        known: JournalPosition = .start
    ) throws(StorageError) -> SegmentJournal {
        var configuration = Self.configuration
        configuration.durability = durability
        configuration.known = known
        return try SegmentJournal(files, configuration)
    }

    private func problem(
        _ durability: Durability = .replicated,
        known: JournalPosition = .start
    ) -> StorageError? {
        do throws(StorageError) {
            _ = try open(durability, known: known)
            return nil
        } catch {
            return error
        }
    }

    /// Writes 30 records into several segments, with the watermark at the tenth; gives that one.
    private func write() throws -> JournalPosition {
        let journal = try open()
        var known = JournalPosition.start
        for number in 1...30 {
            try journal.append(record(number))
            guard number == Self.watermark else { continue }
            let mark = try #require(try journal.syncMark())
            try mark.sync()
            try journal.noteSynced(mark)
            known = mark.position
        }
        return known
    }

    /// Flips a bit of a record's body.
    private func spoil(_ number: Int) throws {
        for name in files.names {
            guard var bytes = files[name], name.hasPrefix("journal/0") else { continue }
            let body = record(number).body
            let places = 0..<max(0, bytes.count - body.count)
            guard let place = places.first(where: { bytes[$0..<$0 + 99] == body[..<99] })
            else { continue }
            bytes[place + 50] ^= 1
            files[name] = bytes
            return
        }
        throw Unexpected("Record \(number) is in no file.")
    }

    @Test(arguments: [11, 15, 29, 30])
    func damageAboveTheWatermarkIsCutOff(_ number: Int) throws {
        _ = try write()
        try spoil(number)
        do {
            let journal = try open()
            #expect(journal.last.number == UInt64(number - 1))
            #expect((journal.cutProblem == nil) == (number == 30))
            #expect(try journal.records() == (1..<number).map { record($0) })
            // The other machines give the rest again.
            for number in number...31 { try journal.append(record(number, byteCount: 200)) }
        }
        let journal = try open()
        #expect(journal.cutProblem == nil)
        #expect(try journal.records().map(\.number) == Array(1...31))
    }

    @Test(arguments: [1, 9, 10])
    func damageBelowItIsRefusedInTheWordsOfOneMachine(_ number: Int) throws {
        _ = try write()
        try spoil(number)
        let found = try #require(problem())
        guard case .damagedRecord(_, _, record: UInt64(number), _) = found else {
            throw Unexpected(found)
        }
        #expect(found == problem(.fsync))
    }

    @Test func aMissingSegmentIsCutOffOrRefused() throws {
        _ = try write()
        let names = files.names.filter { $0.hasPrefix("journal/0") }
        let bytes = files[names[2]]
        files[names[2]] = nil
        do {
            let journal = try open()
            guard case .missing = journal.cutProblem else { throw Unexpected(journal.cutProblem) }
            #expect(journal.last.number == (UInt64(names[2].dropFirst(8).dropLast(4)) ?? 0) - 1)
            // Nothing is kept behind a gap.
            #expect(files.names.filter { $0.hasPrefix("journal/0") } == Array(names[..<2]))
        }
        files[names[2]] = bytes
        files[names[0]] = nil
        guard case .missing = problem() else { throw Unexpected(problem()) }
    }

    @Test func withoutTheWatermarkNothingIsCutOff() throws {
        let known = try write()
        files["durable.hwm"] = nil
        #expect(problem(known: known) == .missingWatermark(last: 30))
        try spoil(20)
        guard case .damagedRecord(_, _, record: 20, _) = problem(known: known) else {
            throw Unexpected(problem(known: known))
        }
    }

    @Test func oneMarkIsUnderWayAtATime() throws {
        let journal = try open()
        #expect(try journal.syncMark() == nil)
        try journal.append(record(1))
        #expect(journal.unmarkedByteCount > 3000)
        let mark = try #require(try journal.syncMark())
        #expect(journal.unmarkedByteCount == 0)
        try journal.append(record(2))
        #expect(try journal.syncMark() == nil)
        try mark.sync()
        try journal.noteSynced(mark)
        #expect(mark.position.number == 1)
        #expect(try journal.syncMark()?.position == journal.last)
    }

    @Test func anAppendSyncsNothingAndAMarkAllOfIt() throws {
        let journal = try open()
        files.failure = { call, _ in call == .sync || call == .syncDirectory ? EIO : nil }
        for number in 1...40 { try journal.append(record(number)) }
        files.failure = { _, _ in nil }
        try #require(try journal.syncMark()).sync()
        // Without a watermark, but on the disk, in all of its segments.
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            let journal = try SegmentJournal(files.afterPowerCut(&generator), Self.configuration)
            #expect(journal.last.number == 40 && journal.cutProblem == nil)
        }
    }

    @Test func aFailedSyncStopsTheJournal() throws {
        let journal = try open()
        try journal.append(record(1))
        let mark = try #require(try journal.syncMark())
        files.failure = { call, _ in call == .sync ? EIO : nil }
        let name = try #require(files.names.first { $0.hasPrefix("journal/0") })
        let failure = StorageError.syncFailed(.system("sync", name, code: EIO))
        #expect(throws: failure) { try mark.sync() }
        journal.noteFailedSync(failure)
        // The disk answers again, but what it lost is not known.
        files.failure = { _, _ in nil }
        #expect(throws: StorageError.journalStopped(reason: failure.description)) {
            try journal.append(record(2))
        }
        #expect(throws: StorageError.self) { try journal.noteSynced(mark) }
        #expect(try journal.syncMark() == nil)
    }

    @Test func aSegmentIsForgottenOnceTheNextOneIsDurable() throws {
        let journal = try open()
        for number in 1...9 { try journal.append(record(number)) }
        let mark = try #require(try journal.syncMark())
        let segments = files.names.filter { $0.hasPrefix("journal/0") }
        try #require(segments.count == 1)
        for number in 10...12 { try journal.append(record(number)) }
        try mark.sync()
        try journal.noteSynced(mark)
        try journal.forget(through: 9)
        #expect(files.names.contains(segments[0]))
        let next = try #require(try journal.syncMark())
        try next.sync()
        try journal.noteSynced(next)
        try journal.forget(through: 9)
        #expect(!files.names.contains(segments[0]))
        let checkpointed = mark.position
        let again = try SegmentJournal(files, Self.configuration, checkpointed: checkpointed)
        #expect(again.last == next.position)
    }
}
