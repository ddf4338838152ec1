import FeedDiskFaults
import FeedState
import FeedTestSupport
import Testing

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
