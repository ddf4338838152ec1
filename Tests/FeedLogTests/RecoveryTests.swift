import FeedLog
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

@Suite struct RecoveryTests {
    private static let ballots = FeedID(rawValue: 2)

    private static func store(stripeCount: Int = 2) throws -> FeedStore {
        let store = FeedStore(stripeCount: stripeCount) { 1_000 }
        _ = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot))
        return store
    }

    private static func counts(
        _ id: UInt64,
        _ revision: UInt64,
        up upvoteCount: UInt64 = 0
    ) -> PostCounts {
        PostCounts(
            id: PostID(rawValue: id),
            upvoteCount: upvoteCount,
            downvoteCount: 0,
            revision: revision
        )
    }

    /// A post in the first feed, or one with ballots, as of its creation.
    private static func post(_ id: UInt64, _ revision: UInt64, _ title: String = "") -> PostState {
        PostState(
            counts: counts(id, revision),
            feed: FeedID(rawValue: 0),
            keepsBallots: false,
            createTimeMilliseconds: 5_000,
            updateTimeMilliseconds: 5_000,
            editRevision: revision,
            content: PostContent(title: title)
        )
    }

    private static func ballotPost(_ id: UInt64, _ revision: UInt64) -> PostState {
        var post = post(id, revision)
        post.feed = ballots
        post.keepsBallots = true
        return post
    }

    @Test func contentAndCountsAreEachTheNewest() throws {
        let store = try Self.store()
        try store.apply(.post(Self.post(1, 10, "first")))
        try store.apply(.counts(Self.counts(1, 30, up: 7)))
        // An edit between the two: its content is news, its counts are not.
        var edited = Self.post(1, 20, "second")
        edited.counts.upvoteCount = 3
        try store.apply(.post(edited))
        var expected = Self.post(1, 20, "second")
        expected.counts = Self.counts(1, 30, up: 7)
        #expect(store.sortedPosts() == [expected])
        try store.apply(.post(Self.post(1, 15, "older")))
        try store.apply(.counts(Self.counts(1, 29, up: 6)))
        #expect(store.sortedPosts() == [expected])
        store.checkInvariants()
    }

    @Test func theTimeIsThatOfTheNewestEdit() throws {
        let store = try Self.store()
        let old = Self.post(1, 10)
        var corrected = Self.post(1, 30)
        corrected.createTimeMilliseconds = 77
        try store.apply(.post(old))
        _ = try store.walks()
        try store.apply(.post(corrected))
        #expect(store.sortedPosts() == [corrected])
        // A start replays the records of a checkpoint that did not end.
        try store.apply(.post(old))
        #expect(store.sortedPosts() == [corrected])
        store.checkInvariants()
    }

    @Test func whatIsNotThereTakesNothing() throws {
        let store = try Self.store()
        let hash = store.stateHash()
        try store.apply(.counts(Self.counts(3, 5)))
        try store.apply(.ballot(Self.counts(3, 6), VoterID(rawValue: 0), .up))
        try store.apply(.deletion(PostID(rawValue: 3), revision: 7))
        #expect(store.stateHash() == hash)
        #expect(store.postCount == 0)
        #expect(store.revision == 7)
    }

    @Test func aDeletedPostNeverComesBack() throws {
        let store = try Self.store(stripeCount: 1)
        try store.apply(.post(Self.ballotPost(1, 10)))
        try store.apply(.ballot(Self.counts(1, 11, up: 1), VoterID(rawValue: 0), .up))
        try store.apply(.deletion(PostID(rawValue: 1), revision: 12))
        #expect(store.postCount == 0)
        try store.apply(.post(Self.ballotPost(1, 10)))
        try store.apply(.deletion(PostID(rawValue: 2_000), revision: 13))
        try store.apply(.post(Self.post(2_000, 9)))
        #expect(store.postCount == 0)
        #expect(store.sortedPosts().isEmpty)
        var page = PostPage()
        try store.createPost(PostContent(), in: Self.ballots, into: &page)
        #expect(page.rows[0].id.rawValue == 2_001)
        #expect(page.rows[0].revision == 14)
    }

    @Test func ballotsLoadBehindTheirPost() throws {
        let store = try Self.store()
        var post = Self.ballotPost(1, 40)
        post.counts.upvoteCount = 2
        try store.apply(.post(post))
        for voter in 0..<3 {
            let ballot: VoteDirection? = voter < 2 ? .up : nil
            try store.apply(.ballot(post.counts, VoterID(rawValue: UInt32(voter)), ballot))
        }
        // Older than the post: known already.
        try store.apply(.ballot(Self.counts(1, 39), VoterID(rawValue: 0), .down))
        #expect(store.sortedPosts() == [post])
        let ballots = try (0..<3).map { voter in
            try store.ballots(of: VoterID(rawValue: voter), on: [post])[0]
        }
        #expect(ballots == [.up, .up, nil])
        // A vote continues from there.
        let outcome = try store.castVote(PostID(rawValue: 1), .down, voter: VoterID(rawValue: 1))
        #expect(outcome.upvoteCount == 1 && outcome.downvoteCount == 1)
    }

    /// What is put back may be of a clock that was wrong, or imported: new posts get the time there is.
    @Test(arguments: [5_000, 300_900, 400_000_000_000])
    func countersAreRaisedAndTheClockIsNot(time: Int64) throws {
        let store = try Self.store()
        try store.apply(.counters(lastID: 100, revision: 1_000))
        try store.apply(.counters(lastID: 50, revision: 500))
        var ahead = Self.post(7, 20)
        ahead.createTimeMilliseconds = time
        ahead.updateTimeMilliseconds = time
        try store.apply(.post(ahead))
        var page = PostPage()
        let outcome = try store.createPost(PostContent(), in: Self.ballots, into: &page)
        #expect(outcome.revision == 1_001)
        #expect(page.rows[0].id.rawValue == 101)
        #expect(page.rows[0].createTimeMilliseconds == 1_000)
        try store.apply(.counts(Self.counts(7, 2_000)))
        #expect(store.revision == 2_000)
    }

    @Test func feedsComeInAnyOrder() throws {
        let store = FeedStore(stripeCount: 1) { 0 }
        let policies = (2..<6).map { FeedPolicy(name: "feed \($0)", maximumTextCharacterCount: $0) }
        for number in [5, 3, 2, 4, 2] {
            try store.apply(.feed(FeedID(rawValue: UInt32(number)), policies[number - 2]))
        }
        let own = FeedPolicy(name: "posts", defaultOrder: .hot, voteMode: .ballot)
        try store.apply(.feed(FeedID(rawValue: 0), own))
        #expect(store.feeds().map(\.policy) == [own, .tweets] + policies)
        #expect(store.feed(named: "feed 5") == FeedID(rawValue: 5))
        #expect(try store.createFeed(FeedPolicy(name: "new")).rawValue == 6)
        let limit = UInt32(RankingLimits.maximumFeedCount)
        for (number, name) in [(limit, "over"), (3, "feed 4"), (3, "other"), (9, "feed 4")] {
            let feed = FeedID(rawValue: number)
            #expect(throws: RecoveryError.badFeedDefinition(feed)) {
                try store.apply(.feed(feed, FeedPolicy(name: name)))
            }
        }
    }

    @Test func votersComeInAnyOrder() throws {
        let store = try Self.store()
        for number in [2, 0, 1, 2] as [UInt32] {
            let device = Device16(high: UInt64(number), low: 3)
            try store.apply(.voter(VoterID(rawValue: number), device: device))
        }
        #expect(store.voter(ifKnown: .device(Device16(high: 2, low: 3))) == VoterID(rawValue: 2))
        #expect(try store.voter(for: .device(Device16(high: 9, low: 9))) == VoterID(rawValue: 3))
        let other = VoterID(rawValue: 7)
        #expect(throws: RecoveryError.badVoter(other)) {
            try store.apply(.voter(other, device: Device16(high: 2, low: 3)))
        }
        let over = VoterID(rawValue: UInt32(RankingLimits.maximumVoterCount))
        #expect(throws: RecoveryError.badVoter(over)) {
            try store.apply(.voter(over, device: Device16(high: 8, low: 8)))
        }
    }

    /// Each is refused, and changes nothing.
    @Test func damagedValuesAreRefused() throws {
        let store = try Self.store()
        try store.apply(.post(Self.post(1, 10)))
        try store.apply(.post(Self.ballotPost(2, 11)))
        func changed(_ change: (inout PostState) -> Void) -> LogEntry {
            var post = Self.post(4, 20)
            change(&post)
            return .post(post)
        }
        let voter = VoterID(rawValue: 0)
        let farVoter = VoterID(rawValue: UInt32(RankingLimits.maximumVoterCount))
        let latest = RankingLimits.maximumTimeMilliseconds
        let damaged: [LogEntry] = [
            .counts(Self.counts(0, 20)), .counts(Self.counts(1 << 33, 20)),
            .counts(Self.counts(1, 1 << 62 + 1)), .counts(Self.counts(1, 20, up: .max)),
            .deletion(PostID(rawValue: 0), revision: 20),
            .deletion(PostID(rawValue: .max), revision: 20),
            .deletion(PostID(rawValue: 1), revision: .max),
            .counters(lastID: 1 << 33, revision: 1), .counters(lastID: 1, revision: .max),
            .ballot(Self.counts(2, 20), farVoter, .up), .ballot(Self.counts(2, 20), voter, .clear),
            .ballot(Self.counts(1, 20), voter, .up),
            changed { $0.createTimeMilliseconds = -1 },
            changed { $0.createTimeMilliseconds = latest + 1 },
            changed { $0.updateTimeMilliseconds = .max },
            changed { $0.editRevision = 21 },
            changed { $0.feed = FeedID(rawValue: 3) },
            changed { $0.feed = FeedID(rawValue: .max) },
            changed { $0.counts.downvoteCount = 1 << 60 },
            changed { $0.content.title = String(repeating: "a", count: 65_536) },
            changed { $0.content.imageURL = String(repeating: "a", count: 65_536) },
            changed { $0.content.text = String(repeating: "a", count: 1 << 24) },
            // Another feed or rule than the post has, or another time as of the same edit.
            changed { $0.counts.id = PostID(rawValue: 2) },
            changed { ($0.counts.id, $0.keepsBallots) = (PostID(rawValue: 1), true) },
            changed {
                ($0.counts.id, $0.editRevision) = (PostID(rawValue: 1), 10)
                $0.createTimeMilliseconds = 7
            },
        ]
        let hash = store.stateHash()
        for entry in damaged {
            #expect(throws: RecoveryError.self, "\(entry)") { try store.apply(entry) }
            #expect(store.stateHash() == hash, "\(entry)")
            #expect(store.revision == 11, "\(entry)")
        }
        var page = PostPage()
        try store.createPost(PostContent(), in: Self.ballots, into: &page)
        #expect(page.rows[0].id.rawValue == 3)
        store.checkInvariants()
    }
}
