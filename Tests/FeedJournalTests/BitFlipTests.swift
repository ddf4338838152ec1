import FeedDiskFaults
import FeedJournal
import FeedTestSupport
import Testing

/// That no flipped bit is ever served.
///
/// `FEED_BIT_FLIPS` sets how many flips; `FEED_SEED` replays one.
@Suite struct BitFlipTests {
    /// The result of one flip.
    private enum Outcome: Equatable {
        case refused
        case harmless
        case servedWrongly(String)
    }

    private let written: WrittenJournal

    init() throws {
        written = try WrittenJournal(seed: 11, segments: 4)
    }

    @Test func servesAllOrRefuses() throws {
        let count = TestEnvironment.number("FEED_BIT_FLIPS") ?? 2000
        var refusedCount = 0
        for seed in TestEnvironment.seeds(1...count) {
            var generator = SeededGenerator(seed: seed)
            let name = try #require(written.files.names.randomElement(using: &generator))
            let bytes = try #require(written.files[name])
            let end = generator.oneIn(2) ? bytes.count : (bytes.lastIndex { $0 != 0 } ?? 0) + 1
            let bit = Int.random(in: 0..<8 * end, using: &generator)
            let outcome = flip(bit, of: name, .small())
            if case .servedWrongly(let what) = outcome {
                Issue.record("seed \(seed), bit \(bit) of \(name): \(what)")
            }
            if outcome == .refused { refusedCount += 1 }
        }
        #expect(refusedCount > count / 4, "\(refusedCount) of \(count) flips were refused.")
    }

    @Test func refusesAFlipInAnyBody() throws {
        // Where bodies are is found by looking for them, not by the format.
        var generator = SeededGenerator(seed: 5)
        for record in written.records where record.body.count > 16 {
            let place = try #require(find(record.body))
            let bit = Int.random(in: 0..<8 * record.body.count, using: &generator)
            #expect(flip(8 * place.offset + bit, of: place.name, .small()) == .refused)
        }
    }

    @Test func aBlindHashLetsFlipsThrough() throws {
        var blind = JournalConfiguration.small()
        blind.hash = RecordHash { _, _ in 1 }
        let written = try WrittenJournal(seed: 11, segments: 2, blind)
        let record = try #require(written.records.first { $0.body.count > 16 })
        let place = try #require(find(record.body, in: written.files))
        let outcome = flip(8 * place.offset, of: place.name, blind, in: written)
        guard case .servedWrongly = outcome else {
            Issue.record("A journal that checks nothing was not found out: \(outcome)")
            return
        }
    }

    private func flip(
        _ bit: Int,
        of name: String,
        _ configuration: JournalConfiguration,
        in other: WrittenJournal? = nil
    ) -> Outcome {
        let written = other ?? self.written
        let files = written.files.copy()
        var bytes = files[name] ?? []
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        files[name] = bytes
        do {
            let records = try SegmentJournal(files, configuration).records()
            guard records != written.records else { return .harmless }
            return .servedWrongly("\(records.count) of \(written.records.count) records")
        } catch {
            return .refused
        }
    }

    private func find(_ body: [UInt8], in files: FakeDisk? = nil) -> (name: String, offset: Int)? {
        let files = files ?? written.files
        for name in files.names {
            guard let bytes = files[name] else { continue }
            for offset in stride(from: 0, through: bytes.count - body.count, by: 8)
            where bytes[offset] == body[0] && bytes[offset..<offset + body.count] == body[...] {
                return (name, offset)
            }
        }
        return nil
    }
}
