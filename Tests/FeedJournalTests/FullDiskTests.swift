import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc
import Testing

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
        var caught: JournalError?
        do throws(JournalError) {
            for _ in 0..<200 {
                _ = try journal.append([UInt8](repeating: 1, count: 2000).span, count: 0, at: 0)
            }
        } catch {
            caught = error
        }
        guard case .outOfSpace = caught else {
            Issue.record("\(String(describing: caught))")
            return
        }
        let acknowledged = journal.last
        #expect(throws: JournalError.self) { try fill(journal, through: 1000) }
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
        #expect(throws: JournalError.self) { try fill(journal, through: 200) }
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
