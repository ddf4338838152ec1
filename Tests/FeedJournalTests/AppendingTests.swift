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
        #expect(throws: StorageError.recordTooLarge(byteCount: limit + 1, limit: limit)) {
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
            try journal.append(WrittenRecord(number: number, count: 1, microseconds: 5, body: body))
        }
        #expect(total == configuration.segmentByteCount)
        #expect(longest == 1 << 20)
    }

    @Test func aFailedSyncStopsTheJournal() throws {
        let journal = try SegmentJournal(files, .small())
        try journal.append(record(1))
        files.failure = { call, name in call == .sync && name.contains("journal/0") ? EIO : nil }
        let name = files.names.first { $0.hasPrefix("journal/0") } ?? ""
        #expect(throws: StorageError.syncFailed(.system("sync", name, code: EIO))) {
            try journal.append(record(2))
        }
        // The disk answers again, but what it lost is not known.
        files.failure = { _, _ in nil }
        try expectStopped(journal)
        // After a restart the record may be there: it was under way.
        let count = try SegmentJournal(files, .small()).records().count
        #expect((1...2).contains(count))
    }

    @Test func aFailedWriteStopsTheJournal() throws {
        let journal = try SegmentJournal(files, .small())
        files.failure = { call, name in call == .write && name.contains("journal/0") ? EIO : nil }
        #expect(throws: StorageError.self) { try journal.append(record(1)) }
        files.failure = { _, _ in nil }
        try expectStopped(journal)
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

    private func expectStopped(_ journal: SegmentJournal) throws {
        do {
            try journal.append(record(9))
            Issue.record("A stopped journal took a record.")
        } catch {
            guard case .journalStopped = error else { throw Unexpected(error) }
        }
    }
}

/// The watermark proves a loss, and never causes one.
@Suite struct DurableWatermarkTests {
    private let written: WrittenJournal
    private let name = "durable.hwm"

    init() throws { written = try WrittenJournal(seed: 31, segments: 2) }

    /// The last record's body becomes another one, as if it had never been written.
    private func loseLastRecord() throws {
        let body = try #require(written.records.last).body
        try #require(body.count > 0)
        let segment = try #require(written.segmentNames.last)
        var bytes = try #require(written.files[segment])
        let offset = try #require(
            (0..<bytes.count - body.count).last { bytes[$0..<$0 + body.count] == body[...] }
        )
        bytes[offset] ^= 1
        written.files[segment] = bytes
    }

    @Test func provesThatTheLastRecordIsLost() throws {
        try loseLastRecord()
        let last = UInt64(written.records.count)
        #expect(throws: StorageError.lost(records: last...last)) {
            try SegmentJournal(written.files, .small())
        }
    }

    @Test func withoutTheWatermarkALastRecordLooksTorn() throws {
        try loseLastRecord()
        written.files[name] = nil
        let journal = try SegmentJournal(written.files, .small())
        #expect(try journal.records() == written.records.dropLast())
    }

    @Test func oneSpoiledSlotLeavesTheOther() throws {
        let last = written.records.count
        // The slot of the last record; the one before it is in the other.
        var bytes = try #require(written.files[name])
        bytes[last % 2 * 512] ^= 1
        written.files[name] = bytes
        #expect(try SegmentJournal(written.files.copy(), .small()).last == written.positions.last)
        try loseLastRecord()
        #expect(try SegmentJournal(written.files, .small()).last == written.positions[last - 2])
    }

    @Test func aStartMakesBothSlotsAnew() throws {
        var bytes = try #require(written.files[name])
        bytes[written.records.count % 2 * 512] ^= 1
        written.files[name] = bytes
        _ = try SegmentJournal(written.files, .small())
        try loseLastRecord()
        let last = UInt64(written.records.count)
        #expect(throws: StorageError.lost(records: last...last)) {
            try SegmentJournal(written.files, .small())
        }
    }

    @Test func aJournalThatHasBegunHasAWatermark() throws {
        written.files[name] = nil
        var configuration = JournalConfiguration.small()
        configuration.known = written.positions[2]
        let last = UInt64(written.records.count)
        #expect(throws: StorageError.missingWatermark(last: last)) {
            try SegmentJournal(written.files, configuration)
        }
        configuration.known = .start
        #expect(try SegmentJournal(written.files, configuration).last.number == last)
    }

    @Test(arguments: [0, 10, 512, 1000])
    func aTruncatedWatermarkIsNoHindrance(_ byteCount: Int) throws {
        written.files[name] = Array(try #require(written.files[name]).prefix(byteCount))
        #expect(try SegmentJournal(written.files, .small()).records() == written.records)
    }

    @Test("a watermark of another journal costs no record: the chain proves what it contradicts")
    func aWatermarkOfAnotherJournal() throws {
        let last = UInt64(written.records.count)
        for number in [last / 2, last] {
            let files = written.files.copy()
            files[name] = watermark(of: JournalPosition(number: number, hash: 4711))
            #expect(throws: StorageError.missingWatermark(last: last)) {
                try SegmentJournal(files, .small())
            }
            let journal = try SegmentJournal(files, .small(), acceptedLoss: last)
            #expect(try journal.records() == written.records)
            #expect(try SegmentJournal(files, .small()).last == written.positions.last)
        }
    }

    @Test func aLostRecordIsToldBesideAWatermarkOfAnotherJournal() throws {
        try loseLastRecord()
        let last = UInt64(written.records.count)
        written.files[name] = watermark(of: JournalPosition(number: last / 2, hash: 4711))
        var configuration = JournalConfiguration.small()
        configuration.known = try #require(written.positions.last)
        #expect(throws: StorageError.lost(records: last...last)) {
            try SegmentJournal(written.files, configuration)
        }
    }

    private func watermark(of position: JournalPosition) -> [UInt8] {
        var bytes: [UInt8] = []
        for value in [position.number, position.hash] {
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let sum = JournalConfiguration.small().hash.digest(bytes.span, 0)
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
        return bytes + [UInt8](repeating: 0, count: 1024 - bytes.count)
    }
}

/// That a full disk ends what is new and nothing that was begun.
@Suite struct FullDiskTests {
    private let files = FakeDisk()

    private func fill(_ journal: SegmentJournal, through last: UInt64) throws {
        while journal.last.number < last {
            let record = WrittenRecord(
                number: journal.last.number + 1,
                count: 0,
                microseconds: 0,
                body: [UInt8](repeating: 1, count: 2000)
            )
            try journal.append(record)
        }
    }

    @Test func keepsBallastAndIsWritableWithRoom() throws {
        let journal = try SegmentJournal(files, .small())
        #expect(try journal.checkSpace() == .writable)
        #expect(files["ballast"]?.count == 64 << 10)
    }

    @Test func commitsWhatIsInFlightOutOfTheBallast() throws {
        let journal = try SegmentJournal(files, .small())
        // Room for what is there and no further segment.
        let used = files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) }
        files.capacity = used
        #expect(try journal.checkSpace() == .readOnly)
        try fill(journal, through: 20)
        #expect(files["ballast"] == nil)
        #expect(try journal.checkSpace() == .readOnly)
        #expect(try journal.records().count == 20)

        files.capacity = used + 400_000
        #expect(try journal.checkSpace() == .writable)
        #expect(files["ballast"]?.count == 64 << 10)
        try fill(journal, through: 40)
        #expect(try SegmentJournal(files, .small()).records().count == 40)
    }

    @Test("a watermark that finds no room takes that of the ballast")
    func writesTheWatermarkOutOfTheBallast() throws {
        let journal = try SegmentJournal(files, .small())
        _ = try journal.checkSpace()
        files.failure = { [files] call, name in
            call == .write && name == "durable.hwm" && files["ballast"] != nil ? ENOSPC : nil
        }
        try fill(journal, through: 3)
        #expect(files["ballast"] == nil)
        #expect(try journal.records().count == 3)
    }

    @Test func stopsWhereEvenTheBallastDoesNotSuffice() throws {
        let journal = try SegmentJournal(files, .small())
        files.capacity = files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) }
        var caught: StorageError?
        do throws(StorageError) {
            for _ in 0..<200 {
                _ = try journal.append([UInt8](repeating: 1, count: 2000).span, count: 0, at: 0)
            }
        } catch {
            caught = error
        }
        guard case .outOfSpace = caught else { throw Unexpected(caught) }
        let acknowledged = journal.last
        #expect(throws: StorageError.self) { try fill(journal, through: 1000) }
        files.capacity = .max
        #expect(try SegmentJournal(files, .small()).last == acknowledged)
    }

    @Test("a segment that finds no room leaves the room that there is to other files")
    func aSegmentWithoutRoomTakesNone() throws {
        var configuration = JournalConfiguration.small()
        configuration.space.ballastByteCount = 0
        let journal = try SegmentJournal(files, configuration)
        let free = configuration.segmentByteCount / 2
        files.capacity = files.names.reduce(free) { $0 + (files[$1]?.count ?? 0) }
        #expect(throws: StorageError.self) { try fill(journal, through: 200) }
        #expect(files.freeByteCount() == free)
        #expect(files["journal/spare.log"] == nil)
    }

    @Test func retriesTheWriteThatFoundTheDiskFull() throws {
        let journal = try SegmentJournal(files, .small())
        try fill(journal, through: 1)
        // A file system that copies on write has no room for what was allocated before, either.
        files.failure = { [unowned files] call, name in
            call == .write && name.contains("journal/0") && files["ballast"] != nil ? ENOSPC : nil
        }
        try fill(journal, through: 2)
        #expect(files["ballast"] == nil)
        #expect(try journal.records().count == 2)
    }
}

/// The texts of errors hold for any record numbers, as they come from the names of files.
struct StorageErrorTextTests {
    @Test func recordsAreNamedByTheirBounds() {
        #expect(
            "\(StorageError.missing(records: 7...7))" == "Record 7 is in no file of the journal."
        )
        #expect(
            "\(StorageError.missing(records: 0...UInt64.max))"
                == "Records 0 to 18446744073709551615 are in no file of the journal."
        )
    }
}

/// When new work is taken, by what is free.
@Suite struct SpaceWatchTests {
    private static let mebibyte = 1 << 20

    private func journal(_ files: FakeDisk) throws -> SegmentJournal {
        var configuration = JournalConfiguration.small()
        configuration.space = SpaceLimits()
        return try SegmentJournal(files, configuration)
    }

    /// A disk with so many mebibytes left to it, beside what is on it.
    private func leave(_ mebibytes: Int, on files: FakeDisk) {
        let used = files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) }
        files.capacity = used + mebibytes * Self.mebibyte
    }

    @Test func isReadOnlyUnder256AndWritableAgainAt512() throws {
        let files = FakeDisk()
        let journal = try journal(files)
        var modes: [SpaceWatch.Mode] = []
        for mebibytes in [600, 256, 255, 300, 511, 512, 300] {
            leave(mebibytes, on: files)
            modes.append(try journal.checkSpace())
        }
        #expect(
            modes == [.writable, .writable, .readOnly, .readOnly, .readOnly, .writable, .writable]
        )
    }

    @Test func startsWritableWhereTheBallastLeavesEnough() throws {
        for (mebibytes, mode) in [(319, SpaceWatch.Mode.readOnly), (321, .writable)] {
            let files = FakeDisk()
            leave(mebibytes, on: files)
            #expect(try journal(files).checkSpace() == mode)
        }
    }

    @Test func doesNotComeBackWithoutItsBallast() throws {
        let files = FakeDisk()
        let journal = try journal(files)
        leave(0, on: files)
        files.failure = { call, name in
            call == .write && name.contains("journal/0") && files["ballast"] != nil ? 28 : nil
        }
        _ = try journal.append([1].span, count: 1, at: 1)
        #expect(files["ballast"] == nil)
        leave(511, on: files)
        #expect(try journal.checkSpace() == .readOnly)
        files.failure = { call, name in call == .allocate && name == "ballast" ? 28 : nil }
        leave(600, on: files)
        #expect(try journal.checkSpace() == .readOnly)
        files.failure = { _, _ in nil }
        #expect(try journal.checkSpace() == .writable)
        #expect(files["ballast"]?.count == 64 * Self.mebibyte)
    }
}
