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
    ) throws(JournalError) -> SegmentJournal {
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

    private func problem(checkpointed: Int = 0) -> JournalError? {
        do throws(JournalError) {
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
    func refusesForeignSegmentsBehindAGap() {
        written.files[written.segmentNames[0]] = nil
        do throws(JournalError) {
            _ = try open(instanceID: 78)
            Issue.record("the segments were taken")
        } catch {
            guard case .otherInstance(_, found: 77, expected: 78) = error else {
                Issue.record("\(error)")
                return
            }
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
        guard case .damaged(file: name, offset: _, record: let number, reason: _) = problem()
        else {
            Issue.record("\(String(describing: problem()))")
            return
        }
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
        guard case .damaged(file: name, offset: let found, let number, reason: _) = problem()
        else {
            Issue.record("\(String(describing: problem()))")
            return
        }
        #expect(number == UInt64(index + 1))
        #expect(found == offset - 40)
    }

    @Test func refusesAnotherDirectorysSegments() {
        #expect(throws: JournalError.self) { try open(instanceID: 78) }
    }

    @Test func refusesAStateOfAnotherJournal() throws {
        let other = try WrittenJournal(seed: 4, segments: 2)
        #expect(throws: JournalError.self) {
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
        let body = try #require(
            places.first { other[$0..<$0 + 200].allSatisfy { $0 == 2 } }
        )
        var bytes = try #require(histories[0][name])
        bytes.replaceSubrange(body - 40..<body + 200, with: other[body - 40..<body + 200])
        histories[0][name] = bytes
        #expect(throws: JournalError.self) { try SegmentJournal(histories[0], .small()) }
        // The watermark is of the first history. Without it the fourth does not follow all the
        // same.
        histories[0]["durable.hwm"] = nil
        #expect(throws: JournalError.self) { try SegmentJournal(histories[0], .small()) }
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
        #expect(problem() == .newerFormat(file: name, version: 9, known: 1))
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
