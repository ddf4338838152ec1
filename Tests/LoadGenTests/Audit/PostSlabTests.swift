import LoadGen
import Testing

/// The posts of a run keep their ids and tallies, whether the ids follow each other or not.
@Suite struct PostSlabTests {
    static let ids: [[UInt64]] = [
        [], [7], [7, 8, 9], [1, 2, 4], [3, 2, 1], [5, 5, 6, 6], [0, 1, 2], [.max - 1, .max],
        [.max, 0], Array(1...20_000), Array(1...9_999) + [20_000],
    ]

    @Test(arguments: ids)
    func keepsTheIDs(_ ids: [UInt64]) {
        let slab = PostSlab(ids: ids)
        for (post, id) in ids.enumerated() where slab.id(UInt32(post)) != id {
            Issue.record("post \(post) has the id \(slab.id(UInt32(post))), and not \(id)")
        }
        #expect(slab.tallies().count == ids.count)
    }

    @Test func countsOnEachPostByItself() {
        let slab = PostSlab(ids: [10, 11, 12])
        for score in [1, 2, 3] as [Int64] { slab.acknowledge(1, score: score) }
        slab.acknowledge(2, score: -1)
        let tallies = slab.tallies()
        #expect(tallies.map(\.acknowledged) == [0, 3, 1])
        #expect(tallies.map(\.scoreSum) == [0, 6, 0xF_FFFF])
        #expect(tallies.map(\.squareSum) == [0, 14, 1])
    }
}
