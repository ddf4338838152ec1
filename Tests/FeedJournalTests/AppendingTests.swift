import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc
import Testing

/// What an append promises, on good days and on bad ones.
@Suite struct AppendingTests {
    private let files = FakeDisk()
    private let body: [UInt8] = [1, 2, 3]

    private func record(_ number: UInt64, byteCount: Int = 3) -> WrittenRecord {
        let body = [UInt8](repeating: 7, count: byteCount)
        return WrittenRecord(number: number, count: 1, microseconds: 5, body: body)
    }

    @Test func numbersFromOneAndChains() throws {
        let journal = try SegmentJournal(files, .small())
        #expect(journal.last == .start)
        let first = try journal.append(record(1))
        let second = try journal.append(record(2))
        #expect([first.number, second.number] == [1, 2])
        // The same body again has another hash, for what is before it.
        #expect(first.hash != second.hash)
        #expect(journal.last == second)
    }

    @Test func timeNeverGoesBack() throws {
        let journal = try SegmentJournal(files, .small())
        for microseconds: UInt64 in [50, 20, 60] {
            _ = try journal.append(body.span, count: 1, at: microseconds)
        }
        let again = try SegmentJournal(files, .small())
        _ = try again.append(body.span, count: 1, at: 10)
        #expect(try again.records().map(\.microseconds) == [50, 50, 60, 60])
    }

    @Test func namesTheLimitOfARecord() throws {
        let journal = try SegmentJournal(files, .small())
        let limit = (32 << 10) / 4 * 3 - 4096
        #expect(throws: JournalError.recordTooLarge(byteCount: limit + 1, limit: limit)) {
            try journal.append(record(1, byteCount: limit + 1))
        }
        // Nothing was written, so the journal takes more.
        try journal.append(record(1, byteCount: limit))
        #expect(try journal.records() == [record(1, byteCount: limit)])
    }

    @Test func forgetsWholeSegmentsOnly() throws {
        let journal = try SegmentJournal(files, .small())
        for number in 1...40 { try journal.append(record(UInt64(number), byteCount: 3000)) }
        let segments = files.names.filter { $0.hasPrefix("journal/0") }
        let second = try #require(UInt64(segments[1].dropFirst(8).dropLast(4)))
        try journal.forget(through: second - 2)
        #expect(files.names.contains(segments[0]))
        try journal.forget(through: second - 1)
        #expect(!files.names.contains(segments[0]))
        try journal.forget(through: 40)
        #expect(files.names.filter { $0.hasPrefix("journal/0") } == [segments[segments.count - 1]])
    }

    @Test("no sync of a new segment has more than a MiB of zeros, as commits wait for it")
    func syncsANewSegmentInPieces() throws {
        var configuration = JournalConfiguration.small()
        configuration.segmentByteCount = 4 << 20
        let pieceByteCount = 32 << 10
        var unsyncedByteCount = 0
        var longest = 0
        var total = 0
        files.failure = { call, name in
            guard name == "journal/spare.log" else { return nil }
            if call == .write {
                unsyncedByteCount += pieceByteCount
                total += pieceByteCount
            }
            longest = max(longest, unsyncedByteCount)
            if call == .sync { unsyncedByteCount = 0 }
            return nil
        }
        let journal = try SegmentJournal(files, configuration)
        total = 0
        let body = [UInt8](repeating: 7, count: 64 << 10)
        for number in 1...40 as ClosedRange<UInt64> {
            try journal.append(
                WrittenRecord(number: number, count: 1, microseconds: 5, body: body)
            )
        }
        #expect(total == configuration.segmentByteCount)
        #expect(longest == 1 << 20)
    }

    @Test func aFailedSyncStopsTheJournal() throws {
        let journal = try SegmentJournal(files, .small())
        try journal.append(record(1))
        files.failure = { call, name in call == .sync && name.contains("journal/0") ? EIO : nil }
        let name = files.names.first { $0.hasPrefix("journal/0") } ?? ""
        #expect(throws: JournalError.syncFailed(FileError("sync", name, code: EIO))) {
            try journal.append(record(2))
        }
        // The disk answers again, but what it lost is not known.
        files.failure = { _, _ in nil }
        expectStopped(journal)
        // After a restart the record may be there: it was under way.
        let count = try SegmentJournal(files, .small()).records().count
        #expect((1...2).contains(count))
    }

    @Test func aFailedWriteStopsTheJournal() throws {
        let journal = try SegmentJournal(files, .small())
        files.failure = { call, name in call == .write && name.contains("journal/0") ? EIO : nil }
        #expect(throws: JournalError.self) { try journal.append(record(1)) }
        files.failure = { _, _ in nil }
        expectStopped(journal)
    }

    @Test func continuesAfterShortWritesAndInterruptions() throws {
        var calls = 0
        files.transferLimit = {
            calls += 1
            return 1 + calls * 7919 % 1500
        }
        files.failure = { call, _ in
            calls += 1
            return (call == .write || call == .read) && calls % 3 == 0 ? EINTR : nil
        }
        let journal = try SegmentJournal(files, .small())
        var generator = SeededGenerator(seed: 8)
        let records = (1...50).map { WrittenRecord.random($0, &generator) }
        for record in records { try journal.append(record) }
        #expect(try journal.records() == records)
    }

    private func expectStopped(_ journal: SegmentJournal) {
        do {
            try journal.append(record(9))
            Issue.record("A stopped journal took a record.")
        } catch {
            guard case .stopped = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
