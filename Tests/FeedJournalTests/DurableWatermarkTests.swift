import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Testing

/// The watermark proves a loss, and never causes one.
@Suite struct DurableWatermarkTests {
    private let written: WrittenJournal
    private let name = "durable.hwm"

    init() throws {
        written = try WrittenJournal(seed: 31, segments: 2)
    }

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
        #expect(throws: JournalError.lost(records: last...last)) {
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
        #expect(throws: JournalError.lost(records: last...last)) {
            try SegmentJournal(written.files, .small())
        }
    }

    @Test func aJournalThatHasBegunHasAWatermark() throws {
        written.files[name] = nil
        var configuration = JournalConfiguration.small()
        configuration.known = written.positions[2]
        let last = UInt64(written.records.count)
        #expect(throws: JournalError.missingWatermark(last: last)) {
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
            #expect(throws: JournalError.missingWatermark(last: last)) {
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
        #expect(throws: JournalError.lost(records: last...last)) {
            try SegmentJournal(written.files, configuration)
        }
    }

    /// A file with one whole watermark.
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
