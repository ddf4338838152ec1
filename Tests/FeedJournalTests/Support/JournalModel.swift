import FeedDiskFaults
import FeedJournal
import FeedTestSupport

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
    func append(_ record: WrittenRecord) throws(JournalError) -> JournalPosition {
        try append(record.body.span, count: record.count, at: record.microseconds)
    }

    /// All records after a position.
    func records(after number: UInt64 = 0) throws(JournalError) -> [WrittenRecord] {
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
    /// Small segments.
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

    /// The segments' names, in order.
    var segmentNames: [String] { files.names.filter { $0.hasSuffix("0.log") || $0.contains("/0") } }
}
