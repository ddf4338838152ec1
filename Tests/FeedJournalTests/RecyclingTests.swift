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
        #expect(try SegmentJournal(files, .small(), checkpointed: checkpointed).last.number == 230)
    }

    /// No file keeps the bytes of the records, though few came after them; nor one that was used again.
    @Test(arguments: [0, 1, 6, 12] as [UInt64])
    func whatIsErasedLeavesTheFiles(laterCount: UInt64) throws {
        let journal = try SegmentJournal(files, .small())
        func found(_ numbers: ClosedRange<UInt64>) -> Bool {
            numbers.contains { number in
                let run = [UInt8](repeating: UInt8(number), count: 256)
                return files.names.contains { files[$0]?.firstRange(of: run) != nil }
            }
        }
        try append(1...25, to: journal)
        try journal.forget(through: 25)
        #expect(!names("recycled-").isEmpty && found(1...10))
        if laterCount > 0 { try append(200...199 + laterCount, to: journal) }
        try journal.erase()
        try append(100...101, to: journal)
        try journal.forget(through: 101)
        #expect(!found(1...25))
        // The files of later records are used again.
        try append(102...140, to: journal)
        try journal.forget(through: 140)
        #expect(!names("recycled-").isEmpty)
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
        #expect(throws: StorageError.missing(records: first...next - 1)) {
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
            guard case StorageError.damagedRecord = $0 else { return false }
            return true
        }
    }
}

/// Segments that no start needs and that are kept for a time.
@Suite struct KeptSegmentTests {
    private let files = FakeDisk()
    private static let second: UInt64 = 1_000_000

    /// Keeps what is younger than a hundred seconds; record n is of second n.
    private var configuration: JournalConfiguration {
        var configuration = JournalConfiguration.small()
        configuration.keptMicroseconds = 100 * Self.second
        configuration.space.keptByteCount = 300_000
        return configuration
    }

    private func record(_ number: UInt64) -> WrittenRecord {
        let body = [UInt8](repeating: UInt8(number % 251), count: 3000)
        let microseconds = number * Self.second
        return WrittenRecord(number: number, count: 1, microseconds: microseconds, body: body)
    }

    private func append(_ numbers: ClosedRange<UInt64>, to journal: SegmentJournal) throws {
        for number in numbers { try journal.append(record(number)) }
    }

    private var firsts: [UInt64] {
        files.names.compactMap { name in
            name.hasPrefix("journal/0") ? UInt64(name.dropFirst(8).dropLast(4)) : nil
        }
        .sorted()
    }

    private var usedByteCount: Int { files.names.reduce(0) { $0 + (files[$1]?.count ?? 0) } }

    @Test("a segment stays until its last record is as old as is to be kept")
    func keepsByAge() throws {
        let journal = try SegmentJournal(files, configuration)
        for number in 1...400 as ClosedRange<UInt64> {
            try append(number...number, to: journal)
            try journal.forget(through: number)
            _ = try journal.checkSpace()
            // The next segment begins after the last record of this one.
            let ends = firsts.dropFirst().map { $0 - 1 }
            #expect(ends.allSatisfy { $0 + 100 > number }, "\(firsts) at \(number)")
            #expect(firsts[0] <= max(1, Int(number) - 99), "\(firsts) at \(number)")
        }
        let first = firsts[0]
        #expect(try journal.records(after: first - 1) == (first...400).map(record))
        #expect(journal.droppedSegmentCount == 0)
        #expect(journal.keptByteCount == (firsts.count - 1) * (32 << 10))

        // Another run knows their ages, too.
        let last = journal.last
        let again = try SegmentJournal(files, configuration, checkpointed: last)
        #expect(try again.records(after: first - 1) == (first...400).map(record))
        try append(401...500, to: again)
        try again.forget(through: 500)
        #expect(firsts[0] > 390 && firsts[0] <= 401)
    }

    @Test("a gap between two records counts as a minute at most, and none between two runs")
    func theAgeCountsShortGaps() {
        var age = JournalAge(0)
        let seconds: [UInt64] = [1000, 1030, 173_830, 500, 560]
        for second in seconds { age.add(recordAt: second * Self.second) }
        #expect(age.microseconds == 150 * Self.second)
        for gap in [60, 61, 172_800] as [UInt64] { age.add(foundGap: gap * Self.second) }
        #expect(age.microseconds == 210 * Self.second)
    }

    @Test(
        "a year of days, the clock wrong at random starts: what is promised stays, and not for ever"
    )
    func keepsByNoClock() throws {
        let seed: UInt64 = 20_261_128
        var generator = SeededGenerator(seed: seed)
        var configuration = configuration
        configuration.keptMicroseconds = 6000 * Self.second
        let days: [Int64] = [0, 0, 0, 1, -1, 30, -30, 365, -365]
        // A day has 40 records, 50 seconds apart.
        var second: UInt64 = 2_000_000_000
        var written: [UInt64: UInt64] = [:]
        var last = JournalPosition.start
        var day = 0
        while day < 365 {
            let journal = try SegmentJournal(files, configuration, checkpointed: last)
            let offset = (days.randomElement(using: &generator) ?? 0) * 86_400
            let count = 40 * Int.random(in: 1...4, using: &generator)
            for _ in 0..<count {
                let clock = UInt64(Int64(second) + offset) * Self.second
                let body = [UInt8](repeating: 7, count: 3000)
                last = try journal.append(body.span, count: 1, at: clock)
                written[last.number] = second
                try journal.forget(through: last.number)
                _ = try journal.checkSpace()
                let oldest = try #require(firsts.first)
                let age = second - (written[oldest] ?? second)
                #expect(age <= 2 * 6000, "seed \(seed), day \(day)")
                // The last record that is gone was older than what is kept.
                if let gone = written[oldest - 1] { #expect(second - gone >= 6000, "seed \(seed)") }
                second += 50
            }
            day += count / 40
        }
    }

    @Test("a clock that is set ages a journal by a minute at most, in a run and between two")
    func aSetClockAgesLittle() throws {
        var configuration = configuration
        configuration.keptMicroseconds = 6000 * Self.second
        var second: UInt64 = 2_000_000_000
        var last = JournalPosition.start
        for run in 0..<4 {
            let journal = try SegmentJournal(files, configuration, checkpointed: last)
            for number in 0..<20 {
                second += number % 10 == 0 ? 30 * 86_400 : 1
                let body = [UInt8](repeating: 7, count: 3000)
                last = try journal.append(body.span, count: 1, at: second * Self.second)
                try journal.forget(through: last.number)
                _ = try journal.checkSpace()
            }
            #expect(firsts.first == 1, "run \(run)")
        }
        #expect(firsts.count > 2)
    }

    @Test("what is not forgotten stays, however old it is")
    func keepsWhatIsNeeded() throws {
        let journal = try SegmentJournal(files, configuration)
        try append(1...300, to: journal)
        try journal.forget(through: 0)
        #expect(try journal.records().count == 300)
        #expect(journal.keptByteCount == 0)
    }

    @Test("the oldest go first where the disk runs low, before anything is refused")
    func givesWayToOthers() throws {
        let journal = try SegmentJournal(files, configuration)
        try append(1...90, to: journal)
        try journal.forget(through: 90)
        let before = firsts
        #expect(before.count > 6 && before[0] == 1)
        // Two segments too little.
        files.capacity = usedByteCount + 300_000 - (40 << 10)
        #expect(try journal.checkSpace() == .writable)
        #expect(firsts == Array(before.dropFirst(2)))
        #expect(journal.droppedSegmentCount == 2)
        #expect(try journal.records(after: firsts[0] - 1).last?.number == 90)
        // Without any room but that of the kept ones all of them go, and appends continue.
        files.capacity = usedByteCount
        #expect(try journal.checkSpace() == .writable)
        #expect(firsts.count == 1)
        try append(91...95, to: journal)
    }

    @Test("a segment that finds no room takes that of a kept one, and the ballast stays")
    func makesRoomForTheNextSegment() throws {
        let journal = try SegmentJournal(files, configuration)
        try append(1...60, to: journal)
        try journal.forget(through: 60)
        let before = firsts
        for number in 61...80 as ClosedRange<UInt64> {
            files.capacity = usedByteCount
            try append(number...number, to: journal)
        }
        #expect(firsts[0] > before[0])
        #expect(try journal.records(after: firsts[0] - 1).last?.number == 80)
    }

    @Test("a journal that keeps nothing any more gives the room back, some segments at a time")
    func endsToKeep() throws {
        var configuration = configuration
        configuration.keptMicroseconds = .max / 2
        let journal = try SegmentJournal(files, configuration)
        try append(1...400, to: journal)
        try journal.forget(through: 400)
        let count = firsts.count
        #expect(count > 30)
        let again = try SegmentJournal(files, .small(), checkpointed: journal.last)
        try again.forget(through: 400)
        #expect(firsts.count == count - 16)
        var looks = 0
        while firsts.count > 1, looks < 100 {
            _ = try again.checkSpace()
            looks += 1
        }
        #expect(looks == count - 17)
        #expect(files.names.filter { $0.hasPrefix("journal/recycled-") }.count == 16)
    }

    @Test("a damaged header of a kept segment costs what is before it, and nothing else")
    func passesADamagedHeader() throws {
        let journal = try SegmentJournal(files, configuration)
        try append(1...90, to: journal)
        try journal.forget(through: 90)
        let second =
            "journal/" + String(repeating: "0", count: 20 - "\(firsts[1])".count)
            + "\(firsts[1]).log"
        files[second]?[40] ^= 1
        let last = journal.last
        let again = try SegmentJournal(files, configuration, checkpointed: last)
        try again.forget(through: 90)
        try append(91...100, to: again)
        #expect(try again.records(after: last.number).count == 10)
    }
}
