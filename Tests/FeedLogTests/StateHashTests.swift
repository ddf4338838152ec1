import FeedLog
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

@Suite struct StateHashTests {
    private static func post(_ id: UInt64) -> PostState {
        PostState(
            counts: PostCounts(
                id: PostID(rawValue: id),
                upvoteCount: 4,
                downvoteCount: 2,
                revision: id + 9
            ),
            feed: FeedID(rawValue: 2),
            keepsBallots: true,
            createTimeMilliseconds: 1_000,
            updateTimeMilliseconds: 2_000,
            editRevision: id,
            content: PostContent(
                authorName: "author",
                title: "title",
                text: "text",
                linkURL: "link",
                thumbnailURL: "thumbnail",
                imageURL: "image",
                commentCount: 3
            )
        )
    }

    private static func marks(
        _ marks: MarkSet,
        on post: UInt64 = 1,
        by viewer: UInt32 = 1,
        revision: UInt64 = 20
    ) -> LogEntry {
        .marks(
            PostMarks(
                viewer: VoterID(rawValue: viewer),
                post: PostID(rawValue: post),
                marks: marks,
                revision: revision
            )
        )
    }

    private static func through(_ change: (inout MarkThrough) -> Void = { _ in }) -> LogEntry {
        var mark = MarkThrough(
            viewer: VoterID(rawValue: 1 << 29),
            feed: nil,
            mark: .read,
            createTimeMilliseconds: 1_000,
            post: PostID(rawValue: 2),
            place: 0,
            revision: 30
        )
        change(&mark)
        return .markThrough(mark)
    }

    /// Two feeds, two devices and a user, two posts, one ballot, marks of two viewers.
    private static let entries: [LogEntry] = [
        .feed(FeedID(rawValue: 2), FeedPolicy(name: "ballots", voteMode: .ballot)),
        .feed(FeedID(rawValue: 3), FeedPolicy(name: "more", voteMode: .ballot)),
        .voter(VoterID(rawValue: 0), device: Device16(high: 1, low: 2)),
        .voter(VoterID(rawValue: 1), device: Device16(high: 3, low: 4)),
        .post(post(1)), .post(post(2)),
        .ballot(post(1).counts, VoterID(rawValue: 0), .up),
        .userVoter(VoterID(rawValue: 1 << 29), userID: 5),
        marks(.read), through(),
    ]

    private static func hash(_ entries: [LogEntry], stripeCount: Int = 2) throws -> UInt64 {
        let store = FeedStore(stripeCount: stripeCount) { 0 }
        for entry in entries { try store.apply(entry) }
        return store.stateHash()
    }

    @Test func orderNumbersAndStripesDoNotMatter() throws {
        let hash = try Self.hash(Self.entries)
        #expect(try Self.hash(Self.entries, stripeCount: 16) == hash)
        var other = Self.entries
        other.swapAt(4, 5)
        other[2] = .voter(VoterID(rawValue: 5), device: Device16(high: 1, low: 2))
        other[6] = .ballot(Self.post(1).counts, VoterID(rawValue: 5), .up)
        let user = VoterID(rawValue: 1 << 29 + 7)
        other[7] = .userVoter(user, userID: 5)
        other[9] = Self.through { $0.viewer = user }
        // Marks that were taken back, and one that the other has ended.
        other += [Self.marks([], on: 2)]
        other += [Self.through { ($0.viewer, $0.place, $0.revision) = (user, 1, 29) }]
        other += [.counters(lastID: 900, revision: 1_000)]
        #expect(try Self.hash(other) == hash)
        let store = FeedStore(stripeCount: 1) { 0 }
        for entry in Self.entries { try store.apply(entry) }
        _ = try store.walks()
        #expect(store.stateHash() == hash, "It counts what is refreshed.")
    }

    @Test func everyFieldMatters() throws {
        var changes: [[LogEntry]] = [Self.entries]
        func change(_ place: Int, _ entry: LogEntry) {
            var entries = Self.entries
            entries[place] = entry
            changes.append(entries)
        }
        func changePost(_ body: (inout PostState) -> Void) {
            var post = Self.post(2)
            body(&post)
            change(5, .post(post))
        }
        func changeFeed(_ body: (inout FeedPolicy) -> Void) {
            var policy = FeedPolicy(name: "more", voteMode: .ballot)
            body(&policy)
            change(1, .feed(FeedID(rawValue: 3), policy))
        }
        changePost { $0.counts.id = PostID(rawValue: 3) }
        changePost { $0.counts.upvoteCount += 1 }
        changePost { $0.counts.downvoteCount += 1 }
        changePost { swap(&$0.counts.upvoteCount, &$0.counts.downvoteCount) }
        changePost { $0.counts.revision += 1 }
        changePost { $0.feed = FeedID(rawValue: 3) }
        changePost { $0.keepsBallots = false }
        changePost { $0.createTimeMilliseconds += 1 }
        changePost { $0.updateTimeMilliseconds += 1 }
        changePost { $0.editRevision += 1 }
        changePost { $0.content.authorName = "authoR" }
        changePost { $0.content.title = "titlE" }
        changePost { $0.content.text = "texT" }
        changePost { $0.content.linkURL = "linK" }
        changePost { $0.content.thumbnailURL = "thumbnaiL" }
        changePost { $0.content.imageURL = "imagE" }
        changePost { $0.content.commentCount = 4 }
        // The same bytes, parted otherwise.
        changePost { ($0.content.authorName, $0.content.title) = ("autho", "titler") }
        changeFeed { $0.name = "morE" }
        changeFeed { $0.defaultOrder = .hot }
        changeFeed { $0.voteMode = .tally }
        changeFeed { $0.maximumTitleCharacterCount += 1 }
        changeFeed { $0.minimumTextCharacterCount += 1 }
        changeFeed { $0.maximumTextCharacterCount += 1 }
        change(3, .voter(VoterID(rawValue: 1), device: Device16(high: 3, low: 5)))
        change(3, .voter(VoterID(rawValue: 1), device: Device16(high: 4, low: 3)))
        change(6, .ballot(Self.post(1).counts, VoterID(rawValue: 0), .down))
        change(6, .ballot(Self.post(1).counts, VoterID(rawValue: 0), nil))
        change(6, .ballot(Self.post(1).counts, VoterID(rawValue: 1), .up))
        change(6, .ballot(Self.post(2).counts, VoterID(rawValue: 0), .up))
        change(6, .ballot(Self.post(1).counts, VoterID(rawValue: 1 << 29), .up))
        changePost { $0.content.authorID = 8 }
        change(7, .userVoter(VoterID(rawValue: 1 << 29), userID: 6))
        change(8, Self.marks([]))
        change(8, Self.marks([.read, .dismissed]))
        change(8, Self.marks(.read, on: 2))
        change(8, Self.marks(.read, by: 0))
        change(8, Self.marks(.read, revision: 21))
        for value in Mark.allCases.dropFirst() { change(9, Self.through { $0.mark = value }) }
        change(9, Self.through { $0.viewer = VoterID(rawValue: 1) })
        change(9, Self.through { $0.feed = FeedID(rawValue: 0) })
        change(9, Self.through { $0.feed = FeedID(rawValue: 2) })
        change(9, Self.through { $0.createTimeMilliseconds += 1 })
        change(9, Self.through { $0.post = PostID(rawValue: 1) })
        change(9, Self.through { $0.revision += 1 })
        changes.append(Self.entries + [Self.through { ($0.place, $0.revision) = (1, 31) }])
        var hashes: [UInt64: Int] = [:]
        for (number, entries) in changes.enumerated() {
            let hash = try Self.hash(entries)
            #expect(hashes[hash] == nil, "Changes \(number) and \(hashes[hash] ?? 0) look alike.")
            hashes[hash] = number
        }
    }
}
