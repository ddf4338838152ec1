import FeedRanking
import Testing

/// An id leaves the bits free that will say which cluster has the post.
@Suite struct PostIDTests {
    @Test func noStripesLeadToAnIDOfMoreBits() {
        let mostSlots: UInt64 = 1 << 32
        #expect(UInt64(RankingLimits.maximumStripeCount) * mostSlots == 1 << 56)
    }

    /// With the most stripes that the service takes.
    @Test func anIDBeyondTheLastSlotIsRefused() throws {
        let store = FeedStore(stripeCount: 4_096) { 0 }
        let last: UInt64 = 4_096 << 32 - 1
        try store.restore(lastID: last, revision: 0)
        #expect(store.highestID == last)
        let beyond: [UInt64] = [last + 1, 1 << 56, 1 << 61 + 1]
        for id in beyond {
            #expect(throws: RecoveryError.badPostID(id)) {
                try store.restore(lastID: id, revision: 0)
            }
        }
        #expect(store.highestID == last)
    }
}
