import FeedRanking
import Testing

@Suite struct PostTableTests {
    private static func record(_ number: UInt32) -> PostRecord {
        PostRecord(
            content: ContentBlob(
                PostContent(title: "title \(number)"),
                updateTimeMilliseconds: 0,
                editRevision: 1
            ),
            feed: FeedID(rawValue: 0),
            voteMode: .tally,
            createTimeMilliseconds: 0,
            revision: UInt64(number)
        )
    }

    @Test func forgetsAPieceWhosePostsAreAllRemoved() {
        var posts = PostTable()
        for slot in UInt32(0)..<3 * 1_024 { posts.insert(Self.record(slot), at: slot) }
        for slot in UInt32(1_024)..<2 * 1_024 { posts.remove(slot) }
        let next = posts.nextSlot(from: 1_024)
        #expect(next == 2 * 1_024)
        var wrong: [UInt32] = []
        for slot in UInt32(0)..<3 * 1_024 {
            let isThere = slot / 1_024 != 1
            let isRight = isThere ? posts[slot].revision == UInt64(slot) : true
            if posts.contains(slot) != isThere || !isRight { wrong.append(slot) }
        }
        let count = posts.count
        #expect(wrong.isEmpty && count == 2 * 1_024)
    }

    /// A slot's number decides where it is, also where the slots before it were never used.
    @Test func holdsPostsFarApart() {
        var posts = PostTable()
        let slots: [UInt32] = [0, 1_023, 1_024, 32_767, 32_768, 70_000]
        for slot in slots.reversed() { posts.insert(Self.record(slot), at: slot) }
        for slot in slots {
            let isThere = posts.contains(slot)
            let (revision, isOtherThere) = (posts[slot].revision, posts.contains(slot + 2))
            #expect(isThere && revision == UInt64(slot) && !isOtherThere)
        }
        let isLastThere = posts.contains(.max)
        #expect(!isLastThere)
    }

    @Test func looksAheadForAnyID() throws {
        let store = FeedStore(stripeCount: 4) { 0 }
        var page = PostPage()
        for _ in 0..<10 {
            try store.createPost(PostContent(), in: FeedID(rawValue: 0), into: &page)
        }
        try store.deletePost(PostID(rawValue: 3))
        let votes = try store.castVote(PostID(rawValue: 2), .up)
        for id in [0, 2, 3, 11, 200_000, 1 << 34, UInt64.max] {
            store.prefetch(PostID(rawValue: id))
        }
        #expect(try store.castVote(PostID(rawValue: 2), .up).score == votes.score + 1)
    }
}
