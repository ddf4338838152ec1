import FeedDiskFaults
import FeedJournal
import FeedSQLite
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// That no flipped bit of the journal or the database is ever served.
///
/// `FEED_BIT_FLIPS` sets how many flips; `FEED_SEED` replays one.
@Suite struct StateBitFlipTests {
    private static let flipsPerState: UInt64 = 50

    @Test func servesAllOrRefuses() throws {
        let count = TestEnvironment.number("FEED_BIT_FLIPS") ?? 3000
        var written: (seed: UInt64, state: WrittenState)?
        var refusedCount: [String: Int] = [:]
        // How many of the flips so far are expected to meet a bit that every start checks.
        var expectedCount = ["journal": 0.0, "state.db": 0.0]
        var share = (journal: 0.0, database: 0.0)
        for seed in TestEnvironment.seeds(1...count) {
            // Each state is spoiled some times, so that a seed is one flip of one state.
            let stateSeed = seed / Self.flipsPerState
            if written?.seed != stateSeed {
                let state = try WrittenState(seed: stateSeed)
                share = try state.checkedShare()
                written = (stateSeed, state)
            }
            expectedCount["journal", default: 0] += share.journal
            expectedCount["state.db", default: 0] += share.database
            let state = try #require(written).state
            var generator = SeededGenerator(seed: seed)
            let (name, bit) = try #require(state.drawBit(&generator))
            let outcome = state.flip(bit, of: name)
            if case .servedWrongly(let what) = outcome {
                Issue.record("seed \(seed), bit \(bit) of \(name): \(what)")
            }
            guard outcome == .refused else { continue }
            refusedCount[name.hasPrefix("journal/") ? "journal" : name, default: 0] += 1
        }
        guard TestEnvironment.number("FEED_SEED") == nil else { return }
        for (name, expected) in expectedCount {
            let least = Self.leastHitCount(expected: expected)
            #expect(
                refusedCount[name, default: 0] >= least,
                "\(refusedCount) refused of \(expectedCount) expected"
            )
        }
    }

    /// How many flips meet a checked bit at least, where so many do on average; wrong once in a
    /// million ranges of seeds.
    ///
    /// Each flip meets one or not, independently of the others. Such a sum with the mean m is below
    /// m - t with a probability of at most exp(-t²/2m), which is Chernoff's bound.
    private static func leastHitCount(expected: Double) -> Int {
        Int((expected - (2 * expected * log(1e6)).squareRoot()).rounded(.up))
    }

    @Test("a flip in a record that state.db has refuses no start and loses nothing")
    func checkpointedRecordsAreNotNeeded() throws {
        var skippedCount = 0
        for seed in TestEnvironment.seeds(1...40) {
            let state = try WrittenState(seed: seed)
            var generator = SeededGenerator(seed: seed)
            let database = try StateDatabase.look(
                directory: ".",
                files: state.disk,
                vfs: state.disk.databaseDiskName
            )
            let checkpointed = database.meta.checkpointed.number
            for (name, range) in state.records(upTo: checkpointed) {
                let bits = 8 * range.lowerBound..<8 * range.upperBound
                let bit = Int.random(in: bits, using: &generator)
                let outcome = state.flip(bit, of: name)
                #expect(outcome == .harmless, "seed \(seed), bit \(bit) of \(name)")
                skippedCount += 1
            }
        }
        #expect(skippedCount > 100, "\(skippedCount) records")
    }

    @Test func aBlindHashLetsFlipsThrough() throws {
        let blind = RecordHash { _, _ in 1 }
        var wrongCount = 0
        for seed in 1...10 as ClosedRange<UInt64> {
            let seeing = try WrittenState(seed: seed, turns: 60, checkpoints: false)
            let state = try WrittenState(seed: seed, turns: 60, checkpoints: false, hash: blind)
            // Texts, which are of any bytes; some of them were replaced since.
            for place in state.find("title ").prefix(8) where place.name.hasPrefix("journal/") {
                let bit = 8 * place.offset + Int(seed % 4)
                if case .servedWrongly = state.flip(bit, of: place.name) { wrongCount += 1 }
                #expect(seeing.flip(bit, of: place.name) == .refused, "seed \(seed)")
            }
        }
        #expect(wrongCount > 3, "\(wrongCount) of 80 flips were served.")
    }

    @Test(arguments: TestEnvironment.seeds(1...5))
    func aFileThatIsGoneIsNoticed(seed: UInt64) throws {
        let state = try WrittenState(seed: seed)
        let log = try #require(state.disk.names.last { $0.hasPrefix("journal/0") })
        for name in ["state.db", log] {
            let disk = state.disk.copy()
            disk[name] = nil
            #expect(state.start(disk) == .refused, "\(name)")
        }
    }
}

/// Bits of the structure of SQLite's pages: what a start serves is whole and stays so while it is written
/// to, and what it refuses comes back by a restore in place.
///
/// `FEED_BIT_FLIPS` sets how many flips; `FEED_SEED` replays one.
@Suite struct PageBitFlipTests {
    private static let flipsPerState: UInt64 = 50

    @Test func servesAllForGoodOrRefuses() throws {
        let count = TestEnvironment.number("FEED_BIT_FLIPS") ?? 150
        var written: (seed: UInt64, state: BackedUpState)?
        var refusedCount = 0
        for seed in TestEnvironment.seeds(1...count) {
            let stateSeed = seed / Self.flipsPerState
            if written?.seed != stateSeed {
                written = (
                    stateSeed, try BackedUpState(seed: stateSeed, segmentByteCount: 64 << 10)
                )
            }
            let state = try #require(written).state
            var generator = SeededGenerator(seed: seed)
            let disk = state.disk.copy()
            let bytes = try #require(disk["state.db"])
            let place = Self.drawPlace(bytes, &generator)
            let bit = UInt8(generator.next() % 8)
            disk["state.db"]?[place] ^= 1 << bit
            let comment: Comment = "seed \(seed), byte \(place), bit \(bit)"
            guard let refusal = state.refusal(disk.copy(), skipping: false) else {
                #expect(state.problem(serving: disk, turns: 40) == nil, comment)
                continue
            }
            refusedCount += 1
            #expect(refusal.exitStatus == 5, comment)
            try state.restore(disk)
            #expect(state.refusal(disk.copy()) == nil, comment)
            #expect(state.problem(serving: disk, turns: 10, skipping: true) == nil, comment)
        }
        guard TestEnvironment.number("FEED_SEED") == nil else { return }
        #expect(refusedCount * 5 > Int(count), "\(refusedCount) of \(count) were refused")
    }

    @Test("a version of the file's format with which SQLite would only read", arguments: [18, 19])
    func refusesOtherVersions(place: Int) throws {
        let state = try BackedUpState(seed: 1)
        let disk = state.disk.copy()
        disk["state.db"]?[place] ^= 64
        #expect(state.refusal(disk, skipping: false)?.exitStatus == 5)
    }

    /// A byte of the file's header, of a page's header, of its pointers to cells, of a free block, or of
    /// what a page of any other kind begins with.
    private static func drawPlace(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> Int {
        let page = 4096 * Int.random(in: 0..<bytes.count / 4096, using: &generator)
        if page == 0, generator.oneIn(2) { return Int.random(in: 0..<100, using: &generator) }
        let header = page + (page == 0 ? 100 : 0)
        func number(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
        guard [2, 5, 10, 13].contains(bytes[header]) else {
            return page + Int.random(in: 0..<16, using: &generator)
        }
        let headerByteCount = bytes[header] < 8 ? 12 : 8
        var blocks: [Int] = []
        var block = number(header + 1)
        while block > 0, block < 4092, blocks.count < 100 {
            blocks.append(page + block)
            block = number(page + block)
        }
        switch (Int.random(in: 0..<3, using: &generator), blocks.randomElement(using: &generator)) {
        case (0, let block?): return block + Int.random(in: 0..<4, using: &generator)
        case (1, _) where number(header + 3) > 0:
            let pointers = 2 * number(header + 3)
            return header + headerByteCount + Int.random(in: 0..<pointers, using: &generator)
        default: return header + Int.random(in: 0..<headerByteCount, using: &generator)
        }
    }
}

/// A directory that a run has left, for tests that spoil its files.
struct WrittenState {
    /// What a start on spoiled files comes to.
    enum Outcome: Equatable {
        case refused
        case harmless
        case servedWrongly(String)
    }

    private let run: StatePowerCutRun

    /// The files as they are when the process has died.
    let disk: FakeDisk

    /// So many calls and commit batches, with checkpoints or without.
    init(
        seed: UInt64,
        turns: Int = 150,
        checkpoints: Bool = true,
        hash: RecordHash = .xxh3
    ) throws {
        var run = StatePowerCutRun(seed: seed, hash: hash)
        try run.write(turns: turns, checkpoints: checkpoints)
        disk = run.disk.copy()
        self.run = run
    }

    /// The bytes of a file that were written for it: a segment's records, or all up to the zeros.
    ///
    /// After the records is what the file held before it was used again. The format is that of
    /// `docs/STORAGE.md`, read here anew: 4096 bytes of header, records of 40 and their body.
    func contentByteCount(_ name: String) -> Int {
        guard let bytes = disk[name] else { return 0 }
        guard name.hasPrefix("journal/0") else { return (bytes.lastIndex { $0 != 0 } ?? 0) + 1 }
        return records(of: name).last?.range.upperBound ?? 4096
    }

    /// The records of all segments up to a number: the segment, and the bytes that are checked.
    func records(upTo last: UInt64) -> [(name: String, range: Range<Int>)] {
        disk.names.filter { $0.hasPrefix("journal/0") }.flatMap { name in
            records(of: name).filter { $0.record <= last }.map { (name, $0.range) }
        }
    }

    private func records(of name: String) -> [(record: UInt64, range: Range<Int>)] {
        guard let bytes = disk[name], var record = UInt64(name.dropFirst(8).dropLast(4)) else {
            return []
        }
        var records: [(record: UInt64, range: Range<Int>)] = []
        var start = 4096
        while start + 40 <= bytes.count, number(bytes[start + 8..<start + 16]) == record {
            let end = start + 40 + Int(number(bytes[start..<start + 4]))
            records.append((record, start..<end))
            start = (end + 7) & ~7
            record += 1
        }
        return records
    }

    /// A number, least byte first.
    private func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    func find(_ text: String) -> [(name: String, offset: Int)] {
        let wanted = Array(text.utf8)
        return disk.names.flatMap { name in
            let bytes = disk[name] ?? []
            return bytes.indices.dropLast(wanted.count)
                .filter { bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted) }
                .map { (name, $0) }
        }
    }

    func flip(_ bit: Int, of name: String) -> Outcome {
        let disk = disk.copy()
        disk[name]?[bit / 8] ^= 1 << UInt8(bit % 8)
        return start(disk)
    }

    /// Starts on a disk: all that was answered is there, or it is refused.
    func start(_ disk: FakeDisk) -> Outcome {
        var run = run
        run.disk = disk
        do {
            try run.start()
            return .harmless
        } catch let complaint as StatePowerCutRun.Complaint {
            return .servedWrongly(complaint.text)
        } catch {
            return .refused
        }
    }
}

/// Which bits are flipped, and how likely one is that no start may pass over.
extension WrittenState {
    /// One draw in so many is of any byte of any file, the others of what was written for a start.
    private static let anythingShare = 8

    /// A bit of what was written for a start to read; of anything at all one time in eight.
    func drawBit(_ generator: inout SeededGenerator) -> (name: String, bit: Int)? {
        let files = flipped(ofAnything: generator.oneIn(Self.anythingShare))
        guard let file = files.randomElement(using: &generator) else { return nil }
        return (file.name, Int.random(in: 0..<8 * file.byteCount, using: &generator))
    }

    /// How likely a drawn bit is one of the journal's, or of the database's, that is surely checked.
    func checkedShare() throws -> (journal: Double, database: Double) {
        let checkedBytes = try checkedByteCounts()
        var share = (journal: 0.0, database: 0.0)
        for isOfAnything in [false, true] {
            let part = 1 / Double(Self.anythingShare)
            let files = flipped(ofAnything: isOfAnything)
            for file in files {
                guard let checked = checkedBytes[file.name] else { continue }
                let chance =
                    (isOfAnything ? part : 1 - part) / Double(files.count)
                    * Double(checked) / Double(file.byteCount)
                if file.name == "state.db" {
                    share.database += chance
                } else {
                    share.journal += chance
                }
            }
        }
        return share
    }

    /// The files of a draw, and of how many bytes of each it draws one.
    private func flipped(ofAnything isOfAnything: Bool) -> [(name: String, byteCount: Int)] {
        disk.names.compactMap { name in
            let isToBeUsedAgain = name == "journal/spare.log" || name.hasPrefix("journal/recycled-")
            guard let all = disk[name]?.count, all > 0, isOfAnything || !isToBeUsedAgain else {
                return nil
            }
            return (name, isOfAnything ? all : min(all, contentByteCount(name)))
        }
    }

    /// At least so many bytes of each file are checked by each start: the records that `state.db` does
    /// not have but the last, which may be torn; and of `state.db`, where no log is beside it, the texts
    /// and the packed columns of all rows, with six bytes of each row's checksum.
    private func checkedByteCounts() throws -> [String: Int] {
        let database = try StateDatabase.look(
            directory: ".",
            files: disk,
            vfs: disk.databaseDiskName
        )
        let checkpointed = records(upTo: database.meta.checkpointed.number)
        var counts: [String: Int] = [:]
        for (name, range) in records(upTo: .max).dropFirst(checkpointed.count).dropLast() {
            counts[name, default: 0] += range.count
        }
        if disk["state.db-wal"]?.isEmpty != false {
            let checked = try database.connection.text(
                """
                SELECT (SELECT count(*) * 6 + ifnull(sum(length(author) + length(title)
                    + length(text) + length(link_url)), 0) FROM posts)
                    + (SELECT count(*) * 6 + ifnull(sum(length(packed)), 0) FROM counts)
                    + (SELECT count(*) * 6 + ifnull(sum(length(packed)), 0) FROM ballots)
                    + (SELECT count(*) * 6 + ifnull(sum(length(device)), 0) FROM voters)
                    + (SELECT count(*) * 6 + ifnull(sum(length(client) + length(outcomes)), 0)
                        FROM channels)
                """
            )
            counts["state.db"] = checked.flatMap { Int($0) }
        }
        return counts
    }
}
