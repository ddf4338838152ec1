import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc
import Testing

/// A journal that begins behind the last record of a state that was copied from another machine.
@Suite struct BegunJournalTests {
    private static let copied = JournalPosition(number: 1_000, hash: 0xC0_FFEE)
    private let files = FakeDisk()

    init() throws {
        try SegmentJournal.begin(files, .small(), after: Self.copied, at: 5_000)
    }

    /// The configuration of a start, whose `state.db` knows the last record of the copy.
    private var configuration: JournalConfiguration {
        var configuration = JournalConfiguration.small()
        configuration.known = Self.copied
        return configuration
    }

    private func open(
        checkpointed: JournalPosition = copied
    ) throws(StorageError) -> SegmentJournal {
        try SegmentJournal(files, configuration, checkpointed: checkpointed)
    }

    private func record(_ number: UInt64) -> WrittenRecord {
        let body = [UInt8](repeating: UInt8(number % 251), count: 3_000)
        return WrittenRecord(number: number, count: 1, microseconds: number * 10, body: body)
    }

    /// Appends records 1001 and on, over three segments; gives their positions.
    private func write() throws -> [JournalPosition] {
        let journal = try open()
        return try (1_001...1_020).map { try journal.append(record($0)) }
    }

    private var segments: [String] { files.names.filter { $0.hasPrefix("journal/0") } }

    @Test func itsFirstRecordIsTheNextOne() throws {
        let journal = try open()
        #expect(journal.last == Self.copied)
        #expect(journal.lastMicroseconds == 5_000)
        #expect(segments == ["journal/00000000000000001001.log"])
        #expect(try journal.records(after: 1_000) == [])
        #expect(try journal.append(record(1_001)).number == 1_001)
    }

    @Test func aLaterStartFindsAllOfIt() throws {
        let positions = try write()
        #expect(segments.count == 3)
        let journal = try open()
        #expect(journal.last == positions.last)
        #expect(try journal.records(after: 1_000) == (1_001...1_020).map(record))
        // Also once some of it is checkpointed and forgotten.
        try journal.forget(through: 1_015)
        #expect(segments.count < 3)
        let later = try open(checkpointed: positions[14])
        #expect(try later.records(after: 1_015) == (1_016...1_020).map(record))
    }

    @Test func nothingBeforeItCanBeHad() throws {
        _ = try write()
        let scan = try RecoveryScan(files, .small(), checkpointed: .start)
        #expect(scan.problem == .missing(records: 1...1_000))
        #expect(throws: StorageError.missing(records: 1_000...1_000)) {
            try open().replay(after: 999) { _, _ in true }
        }
    }

    @Test func anotherCopyIsNotContinued() {
        let other = JournalPosition(number: 1_000, hash: 1)
        let error = #expect(throws: StorageError.self) { try open(checkpointed: other) }
        guard case .damagedRecord(_, offset: 0, record: 1_001, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func damageAndLossAreNamedByTheirRecords() throws {
        _ = try write()
        let whole = files.copy()
        let first = segments[0]
        var bytes = try #require(files[first])
        bytes[4096 + 40 + 100] ^= 1
        files[first] = bytes
        let error = #expect(throws: StorageError.self) { try open() }
        guard case .damagedRecord(first, offset: 4096, record: 1_001, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        files[first] = whole[first]
        let last = try #require(segments.last)
        let number = try #require(UInt64(last.dropFirst(8).dropLast(4)))
        files[last] = nil
        #expect(throws: StorageError.lost(records: number...1_020)) { try open() }
        for name in segments { files[name] = nil }
        #expect(throws: StorageError.lost(records: 1_001...1_020)) { try open() }
    }

    /// The segment is made last: where there is none, the journal is begun again.
    @Test func aPowerCutLeavesAllOfItOrNoSegment() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var isWhole = false
        for calls in 0..<100 where !isWhole {
            let disk = FakeDisk()
            func begin(_ disk: FakeDisk) throws {
                try SegmentJournal.begin(disk, .small(), after: Self.copied, at: 5_000)
            }
            disk.callsUntilPowerCut = calls
            isWhole = (try? begin(disk)) != nil
            disk.die()
            for _ in 0..<3 {
                let found = disk.afterPowerCut(&generator)
                let hasSegment = found.names.contains { $0.hasPrefix("journal/0") }
                if !hasSegment { try begin(found) }
                let journal = try SegmentJournal(found, configuration, checkpointed: Self.copied)
                #expect(journal.last == Self.copied, "power cut after \(calls) calls")
            }
        }
        #expect(isWhole)
    }

    @Test func itIsBegunOnce() throws {
        _ = try write()
        let names = files.names
        let refused = StorageError.system("begin", "journal", code: EEXIST)
        #expect(throws: refused) {
            try SegmentJournal.begin(files, .small(), after: Self.copied, at: 5_000)
        }
        #expect(files.names == names)
        #expect(try open().last.number == 1_020)
    }
}
