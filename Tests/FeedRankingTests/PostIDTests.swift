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

/// What posts keep of the devices that made them.
@Suite struct DeviceAuthorTests {
    /// A data directory has these numbers, so they never change.
    @Test func aDeviceIsTheSameAuthorForGood() {
        let devices = [
            Device16(high: 0, low: 0), Device16(high: 1, low: 2), Device16(high: 2, low: 1),
        ]
        let authors: [UInt64] = [
            0x5B33_3846_9F1A_5D5B, 0x5B28_5EEE_E480_9660, 0x5663_02AB_191B_58FA,
        ]
        #expect(devices.map(\.authorID) == authors)
    }

    @Test func noDeviceHasTheNumberOfAUser() {
        for number in 0..<1_000 as Range<UInt64> {
            let author = Device16(high: number << 50, low: .max - number).authorID
            #expect(author >> 62 == 1)
        }
    }

    @Test func rowsNameUsersAlone() throws {
        let store = FeedStore(stripeCount: 1) { 0 }
        let device = Device16(high: 7, low: 8)
        let authors: [UInt64] = [0, 7, 1 << 63 | 7, device.authorID]
        for author in authors {
            var page = PostPage()
            let content = PostContent(authorID: author, authorName: "Ann")
            let feed = FeedID(rawValue: 0)
            try store.createPost(content, in: feed, into: &page)
            #expect(page.rows[0].authorID == (author == device.authorID ? 0 : author))
            #expect(try store.author(of: page.rows[0].id) == author)
            var query = PageQuery(feed: feed, order: .new, size: 1)
            query.filter.authorID = author
            var list = PostPage()
            var allowance = RefreshAllowance(keyCount: .max)
            _ = try store.page(query, into: &list, allowance: &allowance)
            // A list of everybody's posts begins with this one; nobody asks for a device's.
            #expect(list.rows.first?.id == (author == device.authorID ? nil : page.rows[0].id))
            let creation = store.creation(of: page.rows[0].id) { _, _ in true }
            #expect(creation?.authorID == page.rows[0].authorID)
        }
    }
}
