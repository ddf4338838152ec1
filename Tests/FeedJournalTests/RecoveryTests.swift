import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Testing

/// What a start makes of files that are not as they were left.
@Suite struct RecoveryTests {
    private let written: WrittenJournal
    private let last: UInt64

    init() throws {
        written = try WrittenJournal(seed: 3, segments: 4)
        last = UInt64(written.records.count)
    }

    private func open(
        checkpointed: Int = 0,
        acceptedLoss: UInt64? = nil,
        instanceID: UInt64 = 77
    ) throws(StorageError) -> SegmentJournal {
        var configuration = JournalConfiguration.small()
        configuration.instanceID = instanceID
        let position =
            checkpointed == 0 ? JournalPosition.start : written.positions[checkpointed - 1]
        return try SegmentJournal(
            written.files,
            configuration,
            checkpointed: position,
            acceptedLoss: acceptedLoss
        )
    }

    private func problem(checkpointed: Int = 0) -> StorageError? {
        do throws(StorageError) {
            _ = try open(checkpointed: checkpointed)
            return nil
        } catch {
            return error
        }
    }

    /// The first record of the segment of that place.
    private func first(_ index: Int) -> UInt64 {
        UInt64(written.segmentNames[index].dropFirst(8).dropLast(4)) ?? 0
    }

    @Test func findsAllThatWasWritten() throws {
        let journal = try open()
        #expect(try journal.records() == written.records)
        #expect(journal.last == written.positions.last)
        #expect(try journal.records(after: 7) == Array(written.records[7...]))
    }

    @Test func replaysUntilTheReaderHasEnough() throws {
        var seen: [UInt64] = []
        try open().replay(after: 2) { record, _ in
            seen.append(record.position.number)
            return seen.count < 3
        }
        #expect(seen == [3, 4, 5])
    }

    @Test func needsNothingBeforeTheCheckpoint() throws {
        written.files[written.segmentNames[0]] = nil
        let checkpointed = Int(first(1)) + 1
        #expect(
            try open(checkpointed: checkpointed).records(after: UInt64(checkpointed)).count == Int(
                last
            ) - checkpointed
        )
    }

    @Test func namesTheRecordsOfADeletedSegment() {
        let missing = first(1)...first(2) - 1
        written.files[written.segmentNames[1]] = nil
        #expect(problem() == .missing(records: missing))
    }

    @Test func namesTheRecordsOfADeletedFirstSegment() {
        let missing = 1...first(1) - 1
        written.files[written.segmentNames[0]] = nil
        #expect(problem() == .missing(records: missing))
    }

    @Test("another directory's segments are told from a gap before them")
    func refusesForeignSegmentsBehindAGap() throws {
        written.files[written.segmentNames[0]] = nil
        do throws(StorageError) {
            _ = try open(instanceID: 78)
            Issue.record("the segments were taken")
        } catch {
            guard case .otherInstance(_, found: 77, expected: 78) = error
            else { throw Unexpected(error) }
        }
    }

    @Test func namesTheRecordsOfADeletedLastSegment() {
        let lost = first(3)...last
        written.files[written.segmentNames[3]] = nil
        #expect(problem() == .lost(records: lost))
    }

    @Test func refusesAnEmptyDirectoryBehindACheckpoint() {
        for name in written.segmentNames { written.files[name] = nil }
        #expect(problem(checkpointed: Int(last)) == .missing(records: last...last))
    }

    @Test(arguments: [0, 100, 5000])
    func refusesATruncatedSegment(_ byteCount: Int) throws {
        let name = written.segmentNames[2]
        written.files[name] = Array(try #require(written.files[name]).prefix(byteCount))
        guard case .damagedRecord(file: name, offset: _, record: let number, reason: _) = problem()
        else { throw Unexpected(problem()) }
        #expect((first(2)..<first(3)).contains(number))
    }

    @Test(arguments: [0, 2, 3])
    func namesTheRecordThatIsDamaged(_ segment: Int) throws {
        // A body is found by its bytes.
        let records = written.records[(Int(first(segment)) - 1)...]
        let index = try #require(records.firstIndex { $0.body.count > 99 })
        let body = written.records[index].body
        let name = written.segmentNames[segment]
        var bytes = try #require(written.files[name])
        let offset = try #require(
            (0..<bytes.count - body.count).first { bytes[$0..<$0 + body.count] == body[...] }
        )
        bytes[offset] ^= 1
        written.files[name] = bytes
        guard case .damagedRecord(file: name, offset: let found, let number, reason: _) = problem()
        else { throw Unexpected(problem()) }
        #expect(number == UInt64(index + 1))
        #expect(found == offset - 40)
    }

    @Test func refusesAnotherDirectorysSegments() {
        #expect(throws: StorageError.self) { try open(instanceID: 78) }
    }

    @Test func refusesAStateOfAnotherJournal() throws {
        let other = try WrittenJournal(seed: 4, segments: 2)
        #expect(throws: StorageError.self) {
            try SegmentJournal(written.files, .small(), checkpointed: other.positions[5])
        }
    }

    @Test func refusesARecordOfAnotherHistory() throws {
        // Both journals have the same records but for the third, whole and valid in each.
        let histories = try [1, 2].map { third -> FakeDisk in
            let files = FakeDisk()
            let journal = try SegmentJournal(files, .small())
            for filling in [1, 1, UInt8(third), 1, 1] {
                let body = [UInt8](repeating: filling, count: 200)
                _ = try journal.append(body.span, count: 1, at: 1)
            }
            return files
        }
        let name = try #require(histories[1].names.first { $0.hasPrefix("journal/0") })
        let other = try #require(histories[1][name])
        let places = 0..<other.count - 200
        let body = try #require(places.first { other[$0..<$0 + 200].allSatisfy { $0 == 2 } })
        var bytes = try #require(histories[0][name])
        bytes.replaceSubrange(body - 40..<body + 200, with: other[body - 40..<body + 200])
        histories[0][name] = bytes
        #expect(throws: StorageError.self) { try SegmentJournal(histories[0], .small()) }
        // The watermark is of the first history. Without it the fourth does not follow all the
        // same.
        histories[0]["durable.hwm"] = nil
        #expect(throws: StorageError.self) { try SegmentJournal(histories[0], .small()) }
    }

    @Test func refusesANewerFormat() throws {
        let name = written.segmentNames[1]
        var bytes = try #require(written.files[name])
        bytes[8] = 9
        let checksum = bytes.withSpan { RecordHash.xxh3.digest($0.extracting(first: 56), 0) }
        for index in 0..<8 {
            bytes[56 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * index))
        }
        written.files[name] = bytes
        #expect(problem() == .newerFormat(file: name, format: 9, known: 1))
    }

    @Test func tellsHowFarItHasCome() throws {
        var progress: [JournalProgress] = []
        _ = try SegmentJournal(written.files, .small()) { progress.append($0) }
        #expect(progress.map(\.completedByteCount) == [1, 2, 3, 4].map { $0 * 32 << 10 })
        #expect(progress.allSatisfy { $0.totalByteCount == 4 * 32 << 10 })
        #expect(progress.last?.number == last)
    }
}

extension [UInt8] {
    func withSpan<Result>(_ body: (Span<UInt8>) -> Result) -> Result { body(span) }
}

/// A journal that has lost records and is continued, as its operator accepts the loss.
@Suite struct AcceptedLossTests {
    private let written: WrittenJournal

    init() throws { written = try WrittenJournal(seed: 21, segments: 4) }

    private func spoil(_ record: Int) throws {
        let body = written.records[record - 1].body
        for name in written.segmentNames {
            var bytes = try #require(written.files[name])
            let offsets = 0..<bytes.count - body.count
            guard let offset = offsets.first(where: { bytes[$0..<$0 + body.count] == body[...] })
            else { continue }
            bytes[offset] ^= 1
            written.files[name] = bytes
            return
        }
        Issue.record("Record \(record) is in no file.")
    }

    private func open(_ instanceID: UInt64, accepting: UInt64? = nil) throws -> SegmentJournal {
        var configuration = JournalConfiguration.small()
        configuration.instanceID = instanceID
        return try SegmentJournal(written.files, configuration, acceptedLoss: accepting)
    }

    /// A record in the middle with a body long enough to be told from others.
    private var middle: Int {
        get throws {
            let half = written.records.count / 2
            return half + 1
                + (try #require(written.records[half...].firstIndex { $0.body.count > 99 }) - half)
        }
    }

    @Test func continuesBehindTheLastRecordThatIsLeft() throws {
        let damaged = try middle
        try spoil(damaged)
        #expect(throws: StorageError.self) { try open(77) }
        let left = Array(written.records[..<(damaged - 1)])
        let journal = try open(78, accepting: UInt64(damaged - 1))
        #expect(try journal.records() == left)

        // The lost numbers are given anew; nothing of the old records may come back after them,
        // although the first new record ends just where the lost one did.
        var renewed = written.records[damaged - 1]
        renewed.body[0] ^= 0xFF
        try journal.append(renewed)
        #expect(try open(78).records() == left + [renewed])
        #expect(throws: StorageError.self) { try open(77) }
    }

    @Test func canBeRepeatedAfterAPowerCutAtAnyCall() throws {
        let damaged = try middle
        try spoil(damaged)
        let left = Array(written.records[..<(damaged - 1)])
        var configuration = JournalConfiguration.small()
        configuration.instanceID = 78
        var isDone = false
        for seed in 0..<200 as Range<UInt64> where !isDone {
            var generator = SeededGenerator(seed: seed)
            let files = written.files.copy()
            files.callsUntilPowerCut = Int(seed)
            let accepted = UInt64(damaged - 1)
            _ = try? SegmentJournal(files, configuration, acceptedLoss: accepted)
            isDone = !files.isDead
            let found = files.afterPowerCut(&generator)
            // Without repeating it: what is left, or nothing.
            if let journal = try? SegmentJournal(found.copy(), configuration) {
                #expect(try journal.records() == left, "seed \(seed)")
            }
            let journal = try SegmentJournal(found, configuration, acceptedLoss: accepted)
            #expect(try journal.records() == left, "seed \(seed)")
        }
        #expect(isDone)
    }

    @Test func isNotAskedForWhereTheDamageIsCheckpointed() throws {
        let damaged = try middle
        try spoil(damaged)
        var configuration = JournalConfiguration.small()
        configuration.instanceID = 77
        let checkpointed = written.positions[damaged]
        let number = Int(checkpointed.number)
        let journal = try SegmentJournal(written.files, configuration, checkpointed: checkpointed)
        #expect(
            try journal.records(after: checkpointed.number) == Array(written.records[number...])
        )
        #expect(try !written.files.names(in: ".").contains(Quarantine.directoryName))
    }

    @Test func takesNoOtherNumber() throws {
        let damaged = UInt64(try middle)
        try spoil(Int(damaged))
        for accepted in [damaged - 2, damaged, 0] {
            #expect(throws: StorageError.otherLossAccepted(accepted: accepted, last: damaged - 1)) {
                try open(78, accepting: accepted)
            }
        }
    }

    @Test func replacesAWatermarkThatIsTooHigh() throws {
        let last = written.segmentNames[3]
        let first = try #require(UInt64(last.dropFirst(8).dropLast(4)))
        written.files[last] = nil
        _ = try open(78, accepting: first - 1)
        #expect(try open(78).last == written.positions[Int(first) - 2])
    }

    @Test func beginsAnewWhereTheFirstSegmentIsGone() throws {
        for name in written.segmentNames { written.files[name] = nil }
        let journal = try open(78, accepting: 0)
        try journal.append(written.records[0])
        #expect(try open(78).records() == [written.records[0]])
    }

    @Test func regrowsATruncatedSegment() throws {
        let name = written.segmentNames[3]
        let first = try #require(UInt64(name.dropFirst(8).dropLast(4)))
        written.files[name] = Array(try #require(written.files[name]).prefix(4096))
        let journal = try open(78, accepting: first - 1)
        try journal.append(written.records[Int(first) - 1])
        #expect(try open(78).records() == Array(written.records[..<Int(first)]))
        #expect(written.files[name]?.count == 32 << 10)
    }
}

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
        let name = try #require(written.segmentNames.last { first($0) <= UInt64(record) })
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

    private func open(_ files: FakeDisk, checkpointed: Int) throws(StorageError) -> SegmentJournal {
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
                #expect(throws: StorageError.self, "\(record), \(checkpointed)") {
                    try open(files, checkpointed: checkpointed)
                }
                // And with damage before it that is checkpointed.
                let twice = try spoiled(checkpointed, &generator, files)
                #expect(throws: StorageError.self, "\(record), \(checkpointed)") {
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
        #expect(throws: StorageError.self) { try open(files, checkpointed: count) }
        // The file was cut short.
        files = written.files.copy()
        files[name] = Array(try #require(files[name]).prefix(5000))
        #expect(throws: StorageError.self) { try open(files, checkpointed: count) }
        // The file is gone.
        files[name] = nil
        #expect(throws: StorageError.self) { try open(files, checkpointed: count) }
        // The checkpointed record and the one after it are damaged.
        files = try spoiled(count - 1, &generator, spoiled(count - 2, &generator))
        #expect(throws: StorageError.self) { try open(files, checkpointed: count - 2) }
    }
}
