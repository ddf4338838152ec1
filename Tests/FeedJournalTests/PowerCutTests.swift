import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc
import Testing

/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite struct PowerCutTests {
    @Test(arguments: [PowerCutRun.Fault.none, .failingSync], [false, true])
    func keepsEveryAcknowledgedRecordAndNothingElse(_ fault: PowerCutRun.Fault, _ keepsAll: Bool) {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 2000)
        if let seed = TestEnvironment.number("FEED_SEED") {
            var run = PowerCutRun(seed: seed, fault: fault, keepsAll: keepsAll)
            #expect(run.run() == nil, "seed \(seed)")
            return
        }
        var cutCount = 0
        var seed = TestEnvironment.firstSeed - 1
        while cutCount < wanted {
            seed += 1
            var run = PowerCutRun(seed: seed, fault: fault, keepsAll: keepsAll)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
            cutCount += run.cutCount
        }
        #expect(cutCount >= wanted)
    }

    @Test(arguments: [PowerCutRun.Fault.noSync, .blindHash, .earlyUnlink])
    func noticesAJournalThatIsBrokenOnPurpose(_ fault: PowerCutRun.Fault) {
        // A torn record is taken for a whole one only where the tear is within it: that is rare.
        let complaints = (1...300 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = PowerCutRun(seed: seed, fault: fault)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 300 runs complained.")
    }
}

/// That no flipped bit is ever served.
///
/// `FEED_BIT_FLIPS` sets how many flips; `FEED_SEED` replays one.
@Suite struct BitFlipTests {
    private enum Outcome: Equatable {
        case refused
        case harmless
        case servedWrongly(String)
    }

    private let written: WrittenJournal

    init() throws { written = try WrittenJournal(seed: 11, segments: 4) }

    @Test func servesAllOrRefuses() throws {
        let count = TestEnvironment.number("FEED_BIT_FLIPS") ?? 2000
        var refusedCount = 0
        for seed in TestEnvironment.seeds(1...count) {
            var generator = SeededGenerator(seed: seed)
            let name = try #require(written.files.names.randomElement(using: &generator))
            let bytes = try #require(written.files[name])
            let end = generator.oneIn(2) ? bytes.count : (bytes.lastIndex { $0 != 0 } ?? 0) + 1
            let bit = Int.random(in: 0..<8 * end, using: &generator)
            let outcome = flip(bit, of: name, .small())
            if case .servedWrongly(let what) = outcome {
                Issue.record("seed \(seed), bit \(bit) of \(name): \(what)")
            }
            if outcome == .refused { refusedCount += 1 }
        }
        #expect(refusedCount > count / 4, "\(refusedCount) of \(count) flips were refused.")
    }

    @Test func refusesAFlipInAnyBody() throws {
        // Where bodies are is found by looking for them, not by the format.
        var generator = SeededGenerator(seed: 5)
        for record in written.records where record.body.count > 16 {
            let place = try #require(find(record.body))
            let bit = Int.random(in: 0..<8 * record.body.count, using: &generator)
            #expect(flip(8 * place.offset + bit, of: place.name, .small()) == .refused)
        }
    }

    @Test func aBlindHashLetsFlipsThrough() throws {
        var blind = JournalConfiguration.small()
        blind.hash = RecordHash { _, _ in 1 }
        let written = try WrittenJournal(seed: 11, segments: 2, blind)
        let record = try #require(written.records.first { $0.body.count > 16 })
        let place = try #require(find(record.body, in: written.files))
        let outcome = flip(8 * place.offset, of: place.name, blind, in: written)
        guard case .servedWrongly = outcome
        else { throw Unexpected("A journal that checks nothing was not found out: \(outcome)") }
    }

    private func flip(
        _ bit: Int,
        of name: String,
        _ configuration: JournalConfiguration,
        in other: WrittenJournal? = nil
    ) -> Outcome {
        let written = other ?? self.written
        let files = written.files.copy()
        var bytes = files[name] ?? []
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        files[name] = bytes
        do {
            let records = try SegmentJournal(files, configuration).records()
            guard records != written.records else { return .harmless }
            return .servedWrongly("\(records.count) of \(written.records.count) records")
        } catch {
            return .refused
        }
    }

    private func find(_ body: [UInt8], in files: FakeDisk? = nil) -> (name: String, offset: Int)? {
        let files = files ?? written.files
        for name in files.names {
            guard let bytes = files[name] else { continue }
            for offset in stride(from: 0, through: bytes.count - body.count, by: 8)
            where bytes[offset] == body[0] && bytes[offset..<offset + body.count] == body[...] {
                return (name, offset)
            }
        }
        return nil
    }
}

/// A record as its writer remembers it.
struct WrittenRecord: Equatable {
    var number: UInt64
    var count: UInt32
    var microseconds: UInt64
    var body: [UInt8]

    /// A record of random length, mostly short.
    static func random(_ number: UInt64, _ generator: inout SeededGenerator) -> WrittenRecord {
        let limit = generator.oneIn(8) ? 6000 : 300
        return WrittenRecord(
            number: number,
            count: UInt32.random(in: 0...9, using: &generator),
            microseconds: number * 1000,
            body: generator.bytes(Int.random(in: 0...limit, using: &generator))
        )
    }
}

extension SegmentJournal {
    /// Appends what the writer remembers.
    @discardableResult
    func append(_ record: WrittenRecord) throws(StorageError) -> JournalPosition {
        try append(record.body.span, count: record.count, at: record.microseconds)
    }

    func records(after number: UInt64 = 0) throws(StorageError) -> [WrittenRecord] {
        var records: [WrittenRecord] = []
        try replay(after: number) { record, body in
            var bytes: [UInt8] = []
            for index in body.indices { bytes.append(body[index]) }
            records.append(
                WrittenRecord(
                    number: record.position.number,
                    count: record.count,
                    microseconds: record.microseconds,
                    body: bytes
                )
            )
            return true
        }
        return records
    }
}

extension JournalConfiguration {
    static func small() -> JournalConfiguration {
        var configuration = JournalConfiguration(instanceID: 77)
        configuration.segmentByteCount = 32 << 10
        configuration.space.readOnlyByteCount = 100_000
        configuration.space.resumeByteCount = 200_000
        configuration.space.ballastByteCount = 64 << 10
        configuration.drawSalt = { TestSalt.next() }
        return configuration
    }
}

/// A journal that was written and closed, for tests that spoil its files.
struct WrittenJournal {
    let files = FakeDisk()
    private(set) var records: [WrittenRecord] = []
    private(set) var positions: [JournalPosition] = []

    /// Writes records until so many segments are begun.
    init(seed: UInt64, segments: Int, _ configuration: JournalConfiguration = .small()) throws {
        var generator = SeededGenerator(seed: seed)
        let journal = try SegmentJournal(files, configuration)
        repeat {
            let record = WrittenRecord.random(UInt64(records.count + 1), &generator)
            positions.append(try journal.append(record))
            records.append(record)
        } while segmentNames.count < segments || generator.oneIn(2)
    }

    var segmentNames: [String] { files.names.filter { $0.hasSuffix("0.log") || $0.contains("/0") } }
}

/// Lives of a journal on a disk that loses power, audited after each by what its writer remembers.
struct PowerCutRun {
    /// What may be broken on purpose, for the audit to notice.
    enum Fault {
        case none
        /// Syncs fail now and then, and the process ends there; nothing may be lost.
        case failingSync
        case noSync
        case blindHash
        case earlyUnlink
    }

    private var generator: SeededGenerator
    private let fault: Fault
    private let configuration: JournalConfiguration
    private var files = FakeDisk()

    /// What was acknowledged; the numbers of records are places in here, from 1.
    private var acknowledged: [WrittenRecord] = []
    private var positions: [JournalPosition] = [.start]

    /// What was under way when the power went.
    private var inFlight: WrittenRecord?

    /// What is kept elsewhere, as far as the next start will know.
    private var checkpointed = 0

    private(set) var cutCount = 0

    /// Whether forgotten segments stay, and are audited too.
    private let keepsAll: Bool

    init(seed: UInt64, fault: Fault = .none, keepsAll: Bool = false) {
        self.keepsAll = keepsAll
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        var configuration = JournalConfiguration.small()
        if keepsAll { configuration.keptMicroseconds = .max / 2 }
        if fault == .noSync { configuration.durability = .os }
        if fault == .blindHash { configuration.hash = RecordHash { _, _ in 1 } }
        self.configuration = configuration
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        for _ in 0..<6 {
            files.drawPowerCut(after: 20, or: 600, &generator)
            if let complaint = live() { return complaint }
            guard let found = files.endLife(&generator) else { continue }
            files = found
            cutCount += 1
        }
        files.callsUntilPowerCut = .max
        return live()
    }

    private mutating func live() -> String? {
        files.failure = { _, _ in nil }
        do {
            let journal = try SegmentJournal(
                files,
                configuration,
                checkpointed: positions[checkpointed]
            )
            if let complaint = audit(journal, try journal.records(after: UInt64(checkpointed))) {
                return complaint
            }
            if keepsAll, try journal.records() != acknowledged {
                return "The records that were kept are others than were written."
            }
            if fault == .failingSync { failSyncs() }
            for _ in 0..<Int.random(in: 1...120, using: &generator) {
                let number = UInt64(acknowledged.count + 1)
                let record = WrittenRecord.random(number, &generator)
                inFlight = record
                positions.append(try journal.append(record))
                acknowledged.append(record)
                inFlight = nil
                if generator.oneIn(25) { try checkpoint(journal) }
            }
        } catch {
            if fault == .failingSync { return nil }
            guard files.isDead else { return "An error without a power cut: \(error)" }
        }
        return nil
    }

    private mutating func failSyncs() {
        var remaining = Int.random(in: 0...100, using: &generator)
        files.failure = { call, _ in
            guard call == .sync || call == .syncDirectory else { return nil }
            remaining -= 1
            return remaining < 0 ? EIO : nil
        }
    }

    private mutating func checkpoint(_ journal: SegmentJournal) throws {
        let number = Int.random(in: checkpointed...acknowledged.count, using: &generator)
        if fault != .earlyUnlink { checkpointed = number }
        try journal.forget(through: UInt64(number))
    }

    private mutating func audit(_ journal: SegmentJournal, _ found: [WrittenRecord]) -> String? {
        var expected = Array(acknowledged[checkpointed...])
        if let inFlight, found.count == expected.count + 1 {
            // Not acknowledged, and there: from here on it stands.
            expected.append(inFlight)
            acknowledged.append(inFlight)
            positions.append(journal.last)
        }
        inFlight = nil
        guard found != expected else { return nil }
        let common = zip(found, expected).prefix { $0 == $1 }.count
        return "After record \(checkpointed): \(found.count) records, expected \(expected.count); "
            + "the first \(common) agree."
    }
}
