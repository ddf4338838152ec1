import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Testing

/// Damage in checkpointed records costs nothing, and damage in any other is refused.
@Suite struct CheckpointedDamageTests {
    private static let segmentByteCount = 32 << 10

    private let written: WrittenJournal
    private let count: Int

    init() throws {
        written = try WrittenJournal(seed: 31, segments: 3)
        count = written.records.count
    }

    /// A record's segment and its bytes there, read by the format of `docs/STORAGE.md`.
    private func place(of record: Int) throws -> (name: String, range: Range<Int>) {
        let name = try #require(
            written.segmentNames.last { first($0) <= UInt64(record) }
        )
        var start = 4096
        for earlier in Int(first(name))..<record { start += byteCount(earlier) }
        return (name, start..<start + byteCount(record))
    }

    private func first(_ name: String) -> UInt64 {
        UInt64(name.dropFirst("journal/".count).dropLast(".log".count)) ?? 0
    }

    private func byteCount(_ record: Int) -> Int {
        (40 + written.records[record - 1].body.count + 7) & ~7
    }

    /// The files with one bit of a record flipped: of its header or its body.
    private func spoiled(
        _ record: Int,
        _ generator: inout SeededGenerator,
        _ files: FakeDisk? = nil
    ) throws -> FakeDisk {
        let files = (files ?? written.files).copy()
        let (name, range) = try place(of: record)
        let end = range.lowerBound + 40 + written.records[record - 1].body.count
        let offset = Int.random(in: range.lowerBound..<end, using: &generator)
        files[name]?[offset] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        return files
    }

    private func open(_ files: FakeDisk, checkpointed: Int) throws(JournalError) -> SegmentJournal {
        try SegmentJournal(files, .small(), checkpointed: written.positions[checkpointed - 1])
    }

    /// The checkpoints after which the record's segment is still read.
    private func checkpoints(behind record: Int) -> Range<Int> {
        let next = written.segmentNames.map(first).first { $0 > UInt64(record) }
        return record..<max(record, next.map { Int($0) - 1 } ?? count + 1)
    }

    @Test func noFlipInACheckpointedRecordRefusesAStartOrLosesARecord() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var skippedCount = 0
        for record in 1...count {
            let checkpoints = checkpoints(behind: record)
            guard let some = checkpoints.randomElement(using: &generator),
                let last = checkpoints.last
            else {
                continue
            }
            for checkpointed in Set([record, last, some]) {
                let files = try spoiled(record, &generator)
                let journal = try open(files, checkpointed: checkpointed)
                let left = Array(written.records[checkpointed...])
                #expect(
                    try journal.records(after: UInt64(checkpointed)) == left,
                    "\(record), \(checkpointed)"
                )
                #expect(journal.last == written.positions[count - 1])
                #expect(journal.checkpointedDamage?.number == UInt64(record))
                skippedCount += 1

                // It takes records, and a start finds them, from this checkpoint and a later one.
                let more = WrittenRecord(
                    number: UInt64(count + 1),
                    count: 1,
                    microseconds: UInt64(count + 1) * 1000,
                    body: [1, 2, 3]
                )
                try journal.append(more)
                let again = try open(files, checkpointed: checkpointed)
                #expect(try again.records(after: UInt64(checkpointed)) == left + [more])
                let later = try open(files, checkpointed: count)
                #expect(try later.records(after: UInt64(count)) == [more])
            }
        }
        #expect(skippedCount > count)
    }

    @Test func aFlipInARecordThatIsNotCheckpointedIsRefused() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        for record in 2...count {
            for checkpointed in Set([1, record - 1]) {
                let files = try spoiled(record, &generator)
                #expect(throws: JournalError.self, "\(record), \(checkpointed)") {
                    try open(files, checkpointed: checkpointed)
                }
                // And with damage before it that is checkpointed.
                let twice = try spoiled(checkpointed, &generator, files)
                #expect(throws: JournalError.self, "\(record), \(checkpointed)") {
                    try open(twice, checkpointed: checkpointed)
                }
            }
        }
    }

    @Test func theSegmentGoesWithTheNextCheckpointAndIsNotUsedAgain() throws {
        var generator = SeededGenerator(seed: 3)
        let name = try #require(written.segmentNames.last)
        let record = Int(first(name))
        let files = try spoiled(record, &generator)
        let damaged = files[name]
        let journal = try open(files, checkpointed: record + 1)
        #expect(files[name] == damaged)
        try journal.forget(through: journal.last.number)
        #expect(files[name] == nil)
        let others = files.names.filter { $0.hasPrefix("journal/recycled-") }
        #expect(others.allSatisfy { files[$0] != damaged })
        #expect(try open(files, checkpointed: count).checkpointedDamage == nil)
    }

    @Test func aStartThatLosesPowerLosesNoRecord() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        let name = try #require(written.segmentNames.last)
        for checkpointed in [Int(first(name)) + 2, count] {
            // First with records after the checkpoint; then with the last record damaged.
            let record = checkpointed == count ? count : checkpointed - 1
            let spoiled = try spoiled(record, &generator)
            let left = Array(written.records[checkpointed...])
            var isDone = false
            for calls in 0..<400 where !isDone {
                let files = spoiled.copy()
                files.callsUntilPowerCut = calls
                isDone = (try? open(files, checkpointed: checkpointed)) != nil
                files.die()
                for _ in 0..<4 {
                    let found = files.afterPowerCut(&generator)
                    let journal = try open(found, checkpointed: checkpointed)
                    #expect(try journal.records(after: UInt64(checkpointed)) == left, "\(calls)")
                }
            }
            #expect(isDone)
        }
    }

    @Test func bytesThatLookLikeTheNextRecordAreNotTaken() throws {
        let name = try #require(written.segmentNames.last)
        let checkpointed = Int(first(name)) + 2
        let next = try place(of: checkpointed + 1).range
        let body = written.records[checkpointed].body
        let files = written.files.copy()
        let bytes = try #require(files[name])
        // What a client would store that knew all of the next record but the salt: its header and
        // another body, over records that are checkpointed.
        var forged = Array(bytes[next.prefix(40 + body.count)])
        forged[forged.count - 1] ^= 1
        let place = try place(of: checkpointed - 1).range.lowerBound
        files[name]?.replaceSubrange(place..<place + forged.count, with: forged)
        let wasOverwritten = place + forged.count > next.lowerBound
        guard let journal = try? open(files, checkpointed: checkpointed) else {
            #expect(wasOverwritten)
            return
        }
        #expect(
            try journal.records(after: UInt64(checkpointed))
                == Array(written.records[checkpointed...])
        )
    }

    @Test func withoutProofItIsRefused() throws {
        var generator = SeededGenerator(seed: 5)
        let name = try #require(written.segmentNames.last)
        // The watermark lags, and the checkpointed record is the last one and damaged.
        var files = try spoiled(count, &generator)
        files["durable.hwm"]?.replaceSubrange(0..<1024, with: repeatElement(0, count: 1024))
        #expect(throws: JournalError.self) { try open(files, checkpointed: count) }
        // The file was cut short.
        files = written.files.copy()
        files[name] = Array(try #require(files[name]).prefix(5000))
        #expect(throws: JournalError.self) { try open(files, checkpointed: count) }
        // The file is gone.
        files[name] = nil
        #expect(throws: JournalError.self) { try open(files, checkpointed: count) }
        // The checkpointed record and the one after it are damaged.
        files = try spoiled(count - 1, &generator, spoiled(count - 2, &generator))
        #expect(throws: JournalError.self) { try open(files, checkpointed: count - 2) }
    }
}
