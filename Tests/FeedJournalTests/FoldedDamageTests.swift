import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Testing

/// Damage in records that are folded costs nothing, and damage in any other is refused.
@Suite struct FoldedDamageTests {
    private static let segmentByteCount = 32 << 10

    private let written: WrittenJournal
    private let count: Int

    init() throws {
        written = try WrittenJournal(seed: 31, segments: 3)
        count = written.records.count
    }

    /// A record's segment and its bytes there, read by the format of `docs/JOURNAL.md`.
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

    private func open(_ files: FakeDisk, folded: Int) throws(JournalError) -> SegmentJournal {
        try SegmentJournal(files, .small(), folded: written.positions[folded - 1])
    }

    /// The folds after which the record's segment is still read.
    private func folds(behind record: Int) -> Range<Int> {
        let next = written.segmentNames.map(first).first { $0 > UInt64(record) }
        return record..<max(record, next.map { Int($0) - 1 } ?? count + 1)
    }

    @Test func noFlipInAFoldedRecordRefusesAStartOrLosesARecord() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var skippedCount = 0
        for record in 1...count {
            let folds = folds(behind: record)
            guard let some = folds.randomElement(using: &generator), let last = folds.last else {
                continue
            }
            for folded in Set([record, last, some]) {
                let files = try spoiled(record, &generator)
                let journal = try open(files, folded: folded)
                let left = Array(written.records[folded...])
                #expect(try journal.records(after: UInt64(folded)) == left, "\(record), \(folded)")
                #expect(journal.last == written.positions[count - 1])
                #expect(journal.foldedDamage?.sequence == UInt64(record))
                skippedCount += 1

                // It takes records, and a start finds them, from this fold and from a later one.
                let more = WrittenRecord(
                    sequence: UInt64(count + 1),
                    count: 1,
                    microseconds: UInt64(count + 1) * 1000,
                    body: [1, 2, 3]
                )
                try journal.append(more)
                let again = try open(files, folded: folded)
                #expect(try again.records(after: UInt64(folded)) == left + [more])
                let later = try open(files, folded: count)
                #expect(try later.records(after: UInt64(count)) == [more])
            }
        }
        #expect(skippedCount > count)
    }

    @Test func aFlipInARecordThatIsNotFoldedIsRefused() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        for record in 2...count {
            for folded in Set([1, record - 1]) {
                let files = try spoiled(record, &generator)
                #expect(throws: JournalError.self, "\(record), \(folded)") {
                    try open(files, folded: folded)
                }
                // And with damage before it that is folded.
                let twice = try spoiled(folded, &generator, files)
                #expect(throws: JournalError.self, "\(record), \(folded)") {
                    try open(twice, folded: folded)
                }
            }
        }
    }

    @Test func theSegmentGoesWithTheNextFoldAndIsNotUsedAgain() throws {
        var generator = SeededGenerator(seed: 3)
        let name = try #require(written.segmentNames.last)
        let record = Int(first(name))
        let files = try spoiled(record, &generator)
        let damaged = files[name]
        let journal = try open(files, folded: record + 1)
        #expect(files[name] == damaged)
        try journal.forget(through: journal.last.sequence)
        #expect(files[name] == nil)
        let others = files.names.filter { $0.hasPrefix("journal/recycled-") }
        #expect(others.allSatisfy { files[$0] != damaged })
        #expect(try open(files, folded: count).foldedDamage == nil)
    }

    @Test func aStartThatLosesPowerLosesNoRecord() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        let name = try #require(written.segmentNames.last)
        for folded in [Int(first(name)) + 2, count] {
            // In the first case records are behind the fold; in the second the last one is damaged.
            let record = folded == count ? count : folded - 1
            let spoiled = try spoiled(record, &generator)
            let left = Array(written.records[folded...])
            var isDone = false
            for calls in 0..<400 where !isDone {
                let files = spoiled.copy()
                files.callsUntilPowerCut = calls
                isDone = (try? open(files, folded: folded)) != nil
                files.die()
                for _ in 0..<4 {
                    let found = files.afterPowerCut(&generator)
                    let journal = try open(found, folded: folded)
                    #expect(try journal.records(after: UInt64(folded)) == left, "\(calls)")
                }
            }
            #expect(isDone)
        }
    }

    @Test func bytesThatLookLikeTheNextRecordAreNotTaken() throws {
        let name = try #require(written.segmentNames.last)
        let folded = Int(first(name)) + 2
        let next = try place(of: folded + 1).range
        let body = written.records[folded].body
        let files = written.files.copy()
        let bytes = try #require(files[name])
        // What a client would store that knew all of the next record but the salt: its header and
        // another body, over records that are folded.
        var forged = Array(bytes[next.prefix(40 + body.count)])
        forged[forged.count - 1] ^= 1
        let place = try place(of: folded - 1).range.lowerBound
        files[name]?.replaceSubrange(place..<place + forged.count, with: forged)
        let wasOverwritten = place + forged.count > next.lowerBound
        guard let journal = try? open(files, folded: folded) else {
            #expect(wasOverwritten)
            return
        }
        #expect(
            try journal.records(after: UInt64(folded)) == Array(written.records[folded...])
        )
    }

    @Test func withoutProofItIsRefused() throws {
        var generator = SeededGenerator(seed: 5)
        let name = try #require(written.segmentNames.last)
        // The mark lags, and the folded record is the last one and damaged.
        var files = try spoiled(count, &generator)
        files["durable.hwm"]?.replaceSubrange(0..<1024, with: repeatElement(0, count: 1024))
        #expect(throws: JournalError.self) { try open(files, folded: count) }
        // The file was cut short.
        files = written.files.copy()
        files[name] = Array(try #require(files[name]).prefix(5000))
        #expect(throws: JournalError.self) { try open(files, folded: count) }
        // The file is gone.
        files[name] = nil
        #expect(throws: JournalError.self) { try open(files, folded: count) }
        // The folded record and the one behind it are damaged.
        files = try spoiled(count - 1, &generator, spoiled(count - 2, &generator))
        #expect(throws: JournalError.self) { try open(files, folded: count - 2) }
    }
}
