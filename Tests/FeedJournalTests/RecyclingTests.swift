import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Glibc
import Testing

/// Forgotten segments whose files are used again.
@Suite struct RecyclingTests {
    private let files = FakeDisk()

    private func record(_ number: UInt64) -> WrittenRecord {
        let body = [UInt8](repeating: UInt8(number % 251), count: 3000)
        return WrittenRecord(number: number, count: 1, microseconds: 5, body: body)
    }

    private func append(_ numbers: ClosedRange<UInt64>, to journal: SegmentJournal) throws {
        for number in numbers { try journal.append(record(number)) }
    }

    private func names(_ prefix: String) -> [String] {
        files.names.filter { $0.hasPrefix("journal/\(prefix)") }
    }

    /// All records that the journal still has.
    private func kept(_ journal: SegmentJournal) throws -> [WrittenRecord] {
        let first = try #require(UInt64(names("0")[0].dropFirst(8).dropLast(4)))
        return try journal.records(after: first - 1)
    }

    @Test func filesComeBackAndWhatTheyHeldDoesNot() throws {
        let journal = try SegmentJournal(files, .small())
        for round in 0..<20 as Range<UInt64> {
            if round == 10 {
                // By now there are as many files as a round takes: none goes, and none is made.
                files.failure = { call, name in
                    (call == .remove || call == .allocate) && name.hasPrefix("journal/")
                        ? EIO : nil
                }
            }
            try append(round * 10 + 1...round * 10 + 10, to: journal)
            try journal.forget(through: round * 10 + 10)
        }
        files.failure = { _, _ in nil }
        #expect(names("").count <= 5)
        #expect(!names("recycled-").isEmpty)
        // Old records are still there, after those of the segment that has the file now.
        let current = try #require(files[names("0")[0]])
        #expect(current.suffix(4096).contains { $0 != 0 })
        let records = try kept(journal)
        let first = try #require(records.first?.number)
        #expect(records == (first...200).map(record))

        let checkpointed = JournalPosition(number: 200, hash: journal.last.hash)
        let again = try SegmentJournal(files, .small(), checkpointed: checkpointed)
        #expect(try kept(again) == records)
        #expect(names("recycled-").isEmpty)
        try append(201...230, to: again)
        #expect(
            try SegmentJournal(files, .small(), checkpointed: checkpointed).last.number == 230
        )
    }

    @Test func aFullDiskKeepsNone() throws {
        let journal = try SegmentJournal(files, .small())
        try append(1...20, to: journal)
        try journal.forget(through: 20)
        #expect(!names("recycled-").isEmpty)
        files.capacity = files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) }
        #expect(try journal.checkSpace() == .readOnly)
        #expect(names("recycled-").isEmpty)
        // What is forgotten from now on makes room at once.
        try append(21...40, to: journal)
        try journal.forget(through: 40)
        #expect(names("recycled-").isEmpty)
    }

    @Test("a file of another size, or one that somebody has removed, is not taken")
    func takesOnlyWholeFiles() throws {
        let journal = try SegmentJournal(files, .small())
        try append(1...10, to: journal)
        try journal.forget(through: 10)
        let short = try #require(names("recycled-").first)
        files[short] = [1, 2, 3]
        try append(11...20, to: journal)
        #expect(files[short] == nil)
        try journal.forget(through: 20)
        for name in names("recycled-") { files[name] = nil }
        // A forgotten segment that is gone already is no error either.
        try append(21...40, to: journal)
        files[names("0")[0]] = nil
        try journal.forget(through: 40)
        try append(41...60, to: journal)
        let checkpointed = JournalPosition(number: 60, hash: journal.last.hash)
        #expect(
            try SegmentJournal(files, .small(), checkpointed: checkpointed).last == checkpointed
        )
    }

    @Test("a forgotten segment whose new name finds no room goes")
    func removesWhatCannotBeRenamed() throws {
        let journal = try SegmentJournal(files, .small())
        try append(1...20, to: journal)
        files.failure = { call, name in
            call == .rename && name.contains("journal/0") ? ENOSPC : nil
        }
        try journal.forget(through: 20)
        files.failure = { _, _ in nil }
        #expect(names("0").count == 1)
        #expect(names("recycled-").isEmpty)
    }

    @Test("what is kept for later does not make the disk full")
    func givesUpWhatItKeepsBeforeItRefuses() throws {
        let journal = try SegmentJournal(files, .small())
        try append(1...40, to: journal)
        try journal.forget(through: 40)
        #expect(!names("recycled-").isEmpty)
        // Too little by half of a segment: one file's blocks suffice.
        let used = files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) }
        files.capacity = used + 100_000 - (16 << 10)
        #expect(try journal.checkSpace() == .writable)
        #expect(names("recycled-").isEmpty)
    }

    @Test("the records of a deleted segment are named, also where stale bytes are in their place")
    func namesWhatIsMissing() throws {
        let journal = try SegmentJournal(files, .small())
        for round in 0..<4 as Range<UInt64> {
            try append(round * 10 + 1...round * 10 + 10, to: journal)
            try journal.forget(through: round * 10 + 10)
        }
        let checkpointed = journal.last
        try append(41...80, to: journal)
        let segments = names("0")
        files[segments[2]] = nil
        let first = try #require(UInt64(segments[2].dropFirst(8).dropLast(4)))
        let next = try #require(UInt64(segments[3].dropFirst(8).dropLast(4)))
        #expect(throws: JournalError.missing(records: first...next - 1)) {
            try SegmentJournal(files, .small(), checkpointed: checkpointed)
        }
    }

    @Test("negative control: under one salt for all, what a file held before passes for records")
    func needsASaltOfItsOwn() throws {
        var configuration = JournalConfiguration.small()
        configuration.drawSalt = { 7 }
        let journal = try SegmentJournal(files, configuration)
        for round in 0..<20 as Range<UInt64> {
            try append(round * 10 + 1...round * 10 + 10, to: journal)
            try journal.forget(through: round * 10 + 10)
        }
        #expect {
            try SegmentJournal(files, configuration, checkpointed: journal.last)
        } throws: {
            guard case JournalError.damaged = $0 else { return false }
            return true
        }
    }
}
