import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Testing

/// A journal that has lost records and is continued, as its operator accepts the loss.
@Suite struct AcceptedLossTests {
    private let written: WrittenJournal

    init() throws {
        written = try WrittenJournal(seed: 21, segments: 4)
    }

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
        #expect(throws: JournalError.self) { try open(77) }
        let left = Array(written.records[..<(damaged - 1)])
        let journal = try open(78, accepting: UInt64(damaged - 1))
        #expect(try journal.records() == left)

        // The lost numbers are given anew; nothing of the old records may come back after them,
        // although the first new record ends just where the lost one did.
        var renewed = written.records[damaged - 1]
        renewed.body[0] ^= 0xFF
        try journal.append(renewed)
        #expect(try open(78).records() == left + [renewed])
        #expect(throws: JournalError.self) { try open(77) }
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
            #expect(throws: JournalError.otherLossAccepted(accepted: accepted, last: damaged - 1)) {
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
