import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Testing

/// Devices and users as voters, whom nothing merges.
@Suite struct VoterTests {
    private static let firstUser = VoterID(rawValue: 1 << 29)

    private static func store(_ voteMode: VoteMode) throws -> (FeedStore, PostID) {
        let store = FeedStore(stripeCount: 2) { 0 }
        let feed = try store.createFeed(FeedPolicy(name: "ballots", voteMode: voteMode))
        var page = PostPage()
        try store.createPost(PostContent(title: "title"), in: feed, into: &page)
        return (store, page.rows[0].id)
    }

    @Test func devicesAndUsersAreCountedApart() throws {
        let store = FeedStore(stripeCount: 1) { 0 }
        #expect(store.voter(ifKnown: .user(7)) == nil)
        for number in 0..<3 as Range<UInt32> {
            let device = VoterKey.device(Device16(high: 0, low: UInt64(number)))
            #expect(try store.voter(for: device) == VoterID(rawValue: number))
            let user = VoterKey.user(7 | UInt64(number) << 62)
            #expect(try store.voter(for: user) == VoterID(rawValue: 1 << 29 + number))
            #expect(store.voter(ifKnown: user) == VoterID(rawValue: 1 << 29 + number))
        }
        #expect(try store.voter(for: .user(7)) == Self.firstUser)
    }

    @Test func deviceAndUserHaveABallotEach() throws {
        let (store, id) = try Self.store(.ballot)
        let device = try store.voter(for: .device(Device16(high: 0, low: 7)))
        let user = try store.voter(for: .user(7))
        _ = try store.castVote(id, .up, voter: device)
        #expect(try store.castVote(id, .up, voter: user).score == 2)
        #expect(try store.castVote(id, .down, voter: user).score == 0)
        #expect(try store.castVote(id, .clear, voter: device).downvoteCount == 1)
    }

    @Test(arguments: [VoteDirection.up, .down, .clear])
    func onlyUsersVoteWhereTheFeedSaysSo(direction: VoteDirection) throws {
        let (store, id) = try Self.store(.userBallot)
        let user = try store.voter(for: .user(1))
        let voted = try store.castVote(id, .up, voter: user)
        #expect(voted.score == 1 && voted.standingVote == .up)
        for voter in [nil, try store.voter(for: .device(Device16(high: 1, low: 2)))] {
            #expect(throws: RankingError.userRequired) {
                try store.castVote(id, direction, voter: voter)
            }
        }
        #expect(store.revision == voted.revision)
    }

    @Test func usersComeBackInAnyOrder() throws {
        let store = FeedStore(stripeCount: 1) { 0 }
        for number in [2, 0, 1, 2] as [UInt32] {
            try store.restore(VoterID(rawValue: 1 << 29 + number), user: 10 + UInt64(number))
        }
        #expect(store.voter(ifKnown: .user(12)) == VoterID(rawValue: 1 << 29 + 2))
        #expect(try store.voter(for: .user(99)) == VoterID(rawValue: 1 << 29 + 3))
        let last = (1 << 29) + UInt32(RankingLimits.maximumUserCount) - 1
        let refused: [(UInt32, UInt64)] = [
            (1 << 29 + 7, 12), (last + 1, 8), (5, 8), (1 << 29 + 8, 0),
        ]
        for (number, user) in refused {
            let voter = VoterID(rawValue: number)
            #expect(throws: RecoveryError.badVoter(voter)) { try store.restore(voter, user: user) }
        }
        #expect(throws: RecoveryError.badVoter(Self.firstUser)) {
            try store.restore(Self.firstUser, Device16(high: 1, low: 1))
        }
        try store.restore(VoterID(rawValue: last), user: 8)
        #expect(throws: RankingError.tooManyUsers(limit: RankingLimits.maximumUserCount)) {
            try store.voter(for: .user(100))
        }
    }

    /// All changes, put back into another store, give the same ballots of the same users.
    @Test func changesBringUsersAndTheirBallotsBack() throws {
        let changes = RecordedChanges()
        let store = FeedStore(stripeCount: 2) { 0 }
        let feed = try store.createFeed(
            FeedPolicy(name: "users", voteMode: .userBallot),
            sink: changes
        )
        var page = PostPage()
        try store.createPost(PostContent(title: "title"), in: feed, sink: changes, into: &page)
        let id = page.rows[0].id
        for number in 1...40 as ClosedRange<UInt64> {
            let voter = try store.voter(for: .user(number % 30 + 1), sink: changes)
            _ = try store.castVote(id, number % 3 == 0 ? .down : .up, voter: voter, sink: changes)
        }
        let restored = FeedStore(stripeCount: 4) { 0 }
        try changes.restore(to: restored)
        #expect(restored.stateHash() == store.stateHash())
        #expect(throws: RankingError.userRequired) { try restored.castVote(id, .clear) }
        let other = try restored.voter(for: .user(1_000))
        #expect(restored.stateHash() != store.stateHash() && other.rawValue == 1 << 29 + 30)
    }

    /// Readers find each user with its number, or none, while others insert.
    @Test func usersAreFoundWhileOthersAreNew() async throws {
        let store = FeedStore(stripeCount: 1) { 0 }
        let count = UInt64(TestEnvironment.modelOperations(60_000))
        let faults = await withTaskGroup(of: [String].self) { group in
            for thread in 0..<4 as Range<UInt64> {
                group.addTask { Self.work(store, thread, count) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(faults.isEmpty, "\(faults.first ?? "")")
        let numbers = try (1...count).map { try #require(store.voter(ifKnown: .user($0))).rawValue }
        #expect(Set(numbers).count == numbers.count)
        #expect(numbers.allSatisfy { $0 >> 29 == 1 && $0 - 1 << 29 < UInt32(count) })
    }

    /// Two threads insert the same users, two look them up; a user keeps its number.
    private static func work(_ store: FeedStore, _ thread: UInt64, _ count: UInt64) -> [String] {
        var random = SeededGenerator(seed: thread)
        var known: [UInt64: VoterID] = [:]
        var faults: [String] = []
        for user in 1...count {
            if thread < 2, (try? store.voter(for: .user(user))) == nil { faults.append("none") }
            let other = UInt64.random(in: 1...user, using: &random)
            let found = store.voter(ifKnown: .user(other))
            if thread < 2, found == nil { faults.append("user \(other) is lost") }
            guard let found else { continue }
            let expected = known.updateValue(found, forKey: other) ?? found
            if expected != found || !found.isUser { faults.append("user \(other): \(found)") }
        }
        return faults
    }
}

@Suite struct BallotTableTests {
    /// Posts with many votes, as the ballots to come make them.
    private static func postTable(_ count: Int) -> PostTable {
        var posts = PostTable()
        for slot in 0..<count {
            var record = PostRecord(
                content: ContentBlob(PostContent(), updateTimeMilliseconds: 0, editRevision: 1),
                feed: FeedID(rawValue: 0),
                voteMode: .ballot,
                createTimeMilliseconds: 0,
                revision: 1
            )
            record.upvoteCount = 1_000_000
            posts.insert(record, at: UInt32(slot))
        }
        return posts
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func agreesWithADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let posts = Self.postTable(50)
        var table = BallotTable()
        var model: [UInt64: VoteDirection] = [:]
        for _ in 0..<20_000 {
            let slot = UInt32.random(in: 0..<50, using: &random)
            let number = UInt32.random(in: 0..<45, using: &random)
            let isUser = random.oneIn(2)
            let voter = VoterID(rawValue: isUser ? VoterID.firstUser + number : number)
            let direction: VoteDirection? = [.up, .down, nil].randomElement(using: &random) ?? nil
            let key = UInt64(slot) << 32 | UInt64(voter.rawValue)
            #expect(table.ballot(slot, voter) == model[key], "FEED_SEED=\(seed)")
            #expect(table.set(direction, slot, voter, posts) == model[key], "FEED_SEED=\(seed)")
            model[key] = direction
        }
    }

    /// Most voters of some chunks vote, so their ballots move out of the table of words, and some posts
    /// are deleted.
    @Test(arguments: TestEnvironment.seeds(1...4))
    func agreesWithADictionaryWhereChunksAreCrowded(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var posts = Self.postTable(8)
        var table = BallotTable()
        var model: [UInt32: [UInt32: VoteDirection]] = [:]
        var live = Array(UInt32(0)..<8)
        for step in 1...40_000 {
            if step % 9_000 == 0 {
                let slot = live.remove(at: Int.random(in: live.indices, using: &random))
                posts.remove(slot)
                model[slot] = nil
            }
            let slot = live.randomElement(using: &random) ?? 0
            // Chunks 0 and 1 become crowded at different times, and chunk 5 never does.
            let chunk = [0, 0, 0, 0, 0, 0, 0, 0, 1, 5].randomElement(using: &random) ?? 0
            let number = UInt32(
                chunk * 1_024 + Int.random(in: 0..<(chunk == 5 ? 20 : 1_024), using: &random)
            )
            let isUser = random.oneIn(4)
            let voter = VoterID(rawValue: isUser ? VoterID.firstUser + number : number)
            let direction: VoteDirection? = [.up, .down, nil].randomElement(using: &random) ?? nil
            let old = model[slot]?[voter.rawValue]
            #expect(table.ballot(slot, voter) == old, "FEED_SEED=\(seed)")
            #expect(table.set(direction, slot, voter, posts) == old, "FEED_SEED=\(seed)")
            model[slot, default: [:]][voter.rawValue] = direction
        }
        var found: [UInt32: [UInt32: VoteDirection]] = [:]
        var count = 0
        table.forEach(posts) { slot, voter, direction in
            found[slot, default: [:]][voter.rawValue] = direction
            count += 1
        }
        #expect(found == model, "FEED_SEED=\(seed)")
        #expect(count == model.values.reduce(0) { $0 + $1.count }, "FEED_SEED=\(seed)")
    }

    @Test func crowdedChunksTakeLessThanAByteABallot() {
        let posts = Self.postTable(10)
        var table = BallotTable()
        for number in 0..<100_000 {
            _ = table.set(.down, UInt32(number % 10), VoterID(rawValue: UInt32(number / 10)), posts)
        }
        #expect(table.byteCount < 100_000)
        #expect(table.ballot(3, VoterID(rawValue: 9_999)) == .down)
    }

    @Test func forgetsTheCrowdedChunksOfDeletedPosts() {
        var posts = Self.postTable(101)
        var table = BallotTable()
        for slot in UInt32(0)..<100 {
            for number in UInt32(0)..<1_024 {
                _ = table.set(.up, slot, VoterID(rawValue: number), posts)
            }
            posts.remove(slot)
        }
        #expect(table.byteCount <= 8 * 264 + 16 * 1_024)
        #expect(table.ballot(100, VoterID(rawValue: 7)) == nil)
    }

    @Test(arguments: [1_000, 10_000, 77_777, 300_000])
    func costsAtMostSixteenBytesABallot(count: Int) {
        let posts = Self.postTable(10)
        var table = BallotTable()
        for number in 0..<count {
            let voter = VoterID(rawValue: UInt32(number / 10))
            _ = table.set(.up, UInt32(number % 10), voter, posts)
            if number > 500 { #expect(table.byteCount <= 16 * (number + 1)) }
        }
    }

    @Test func forgetsTheBallotsOfDeletedPosts() {
        var posts = Self.postTable(2)
        var table = BallotTable()
        for number in 0..<5_000 { _ = table.set(.up, 0, VoterID(rawValue: UInt32(number)), posts) }
        posts.remove(0)
        for number in 0..<5_000 {
            _ = table.set(.down, 1, VoterID(rawValue: UInt32(number)), posts)
        }
        #expect(table.byteCount <= 16 * 5_100 + 16 * 5_000 / 2)
        #expect(table.ballot(1, VoterID(rawValue: 77)) == .down)
    }
}

/// Votes that are cast together leave behind what the same votes leave behind one by one.
@Suite struct BatchedVotesTests {
    private static let postCount: UInt64 = 40
    private static let stripeCount = 4

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func castAsOneByOne(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let together = try Self.makeStore(NoChanges())
        let single = try Self.makeStore(NoChanges())
        var votes = BatchedVotes()
        var refusedCount = 0
        for _ in 0..<50 {
            let voter = Self.draw(&votes, &random)
            together.castVotes(&votes, voter: voter)
            var due: [UInt64: Bool] = [:]
            for item in 0..<votes.count {
                let vote = votes.entries[item]
                let result = Self.cast(vote, voter, single)
                expect(vote, isAs: result, "seed \(seed)")
                if case .success(let outcome) = result {
                    due[vote.post.rawValue % UInt64(Self.stripeCount)] = outcome.refreshIsDue
                }
            }
            let refreshed = votes.refreshDue.map { $0.rawValue % UInt64(Self.stripeCount) }
            let isDue = due.filter(\.value).keys
            #expect(isDue.allSatisfy(refreshed.contains), "seed \(seed)")
            #expect(Set(refreshed).count == refreshed.count, "One post a stripe; seed \(seed).")
            let refused = (0..<votes.count).count { votes.entries[$0].refusal != nil }
            #expect(refused == votes.refusedCount, "seed \(seed)")
            #expect(together.revision == single.revision, "seed \(seed)")
            refusedCount += refused
        }
        #expect(refusedCount > 100, "Votes are refused; seed \(seed).")
        #expect(try Self.counts(together) == Self.counts(single), "seed \(seed)")
        together.checkInvariants()
    }

    /// Many stripes have few votes each, which are cast in another order than they were given in.
    @Test(arguments: [1, 2, 256, 1024])
    func castTheVotesOnAPostInTheirOrder(stripeCount: Int) throws {
        let store = try Self.makeStore(NoChanges(), stripeCount: stripeCount)
        var votes = BatchedVotes()
        votes.count = BatchedVotes.capacity
        for item in 0..<votes.count {
            // No post of a ballot feed, nor the one that is deleted.
            votes.entries[item].post = PostID(rawValue: UInt64(8 + item % 3))
        }
        store.castVotes(&votes)
        #expect(votes.refusedCount == 0)
        for item in 0..<votes.count {
            #expect(votes.entries[item].upvoteCount == UInt64(item / 3 + 1))
        }
    }

    /// The revisions of the changes rise without a gap, and a store that the changes are put back
    /// into has the same state: a restart forgets a revision that the sink was not given.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func handEachVoteToTheSinkUnderARevisionOfItsOwn(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let changes = RecordedChanges()
        let store = try Self.makeStore(changes)
        var votes = BatchedVotes()
        let first = store.revision
        changes.revisions.removeAll()
        for _ in 0..<50 {
            let voter = Self.draw(&votes, &random)
            store.castVotes(&votes, voter: voter, sink: changes)
        }
        #expect(changes.revisions == Array(first + 1...store.revision), "seed \(seed)")
        let restored = FeedStore(stripeCount: 2) { 0 }
        try changes.restore(to: restored)
        #expect(restored.stateHash() == store.stateHash(), "seed \(seed)")
        #expect(restored.revision == store.revision, "seed \(seed)")
    }

    /// Draws votes on posts of all kinds, some of which are missing; returns who casts them.
    private static func draw(
        _ votes: inout BatchedVotes,
        _ random: inout SeededGenerator
    ) -> VoterID? {
        votes.count = Int.random(in: 1...BatchedVotes.capacity, using: &random)
        // Half of the batches are of what every batch is of: votes that count on posts of a tally.
        let isPlain = Bool.random(using: &random)
        for item in 0..<votes.count {
            let post = UInt64.random(in: 0...postCount + 1, using: &random)
            votes.entries[item].post = PostID(rawValue: isPlain ? 8 + post % 3 : post)
            let direction = [VoteDirection.up, .down, isPlain ? .up : .clear]
                .randomElement(using: &random)
            votes.entries[item].direction = direction ?? .up
        }
        return [VoterID(rawValue: 0), VoterID(rawValue: VoterID.firstUser), nil]
            .randomElement(using: &random) ?? nil
    }

    private func expect(
        _ vote: BatchedVotes.Entry,
        isAs single: Result<VoteOutcome, RankingError>,
        _ comment: Comment
    ) {
        switch single {
        case .success(let outcome):
            #expect(vote.refusal == nil, comment)
            #expect(vote.upvoteCount == outcome.upvoteCount, comment)
            #expect(vote.downvoteCount == outcome.downvoteCount, comment)
            #expect(vote.standingVote == outcome.standingVote, comment)
        case .failure(.postNotFound): #expect(vote.refusal == .postNotFound, comment)
        case .failure(.clearOnTally): #expect(vote.refusal == .clearOnTally, comment)
        case .failure(.voterRequired): #expect(vote.refusal == .voterRequired, comment)
        case .failure(.userRequired): #expect(vote.refusal == .userRequired, comment)
        case .failure(let error): Issue.record("\(error)")
        }
    }

    private static func cast(
        _ vote: BatchedVotes.Entry,
        _ voter: VoterID?,
        _ store: FeedStore
    ) -> Result<VoteOutcome, RankingError> {
        do throws(RankingError) {
            return .success(try store.castVote(vote.post, vote.direction, voter: voter))
        } catch {
            return .failure(error)
        }
    }

    private static func counts(_ store: FeedStore) throws -> [[UInt64]] {
        store.sortedPosts().map {
            [$0.counts.id.rawValue, $0.counts.upvoteCount, $0.counts.downvoteCount]
        }
    }

    /// Posts of a tally, every fourth of a ballot feed, and post 12 of one of users' ballots; post 6 is
    /// deleted.
    private static func makeStore(
        _ sink: some ChangeSink,
        stripeCount: Int = stripeCount
    ) throws -> FeedStore {
        var pace = RefreshPace()
        pace.minimumStaleCount = 4
        let store = FeedStore(stripeCount: stripeCount, pace: pace) { 0 }
        var page = PostPage()
        let polls = try store.createFeed(FeedPolicy(name: "polls", voteMode: .ballot), sink: sink)
        let users = try store.createFeed(
            FeedPolicy(name: "users", voteMode: .userBallot),
            sink: sink
        )
        let posts = try #require(store.feed(named: "posts"))
        _ = try store.voter(for: .device(Device16(high: 1, low: 2)), sink: sink)
        _ = try store.voter(for: .user(3), sink: sink)
        for number in 1...postCount {
            _ = try store.createPost(
                PostContent(title: "\(number)"),
                in: number == 12 ? users : number % 4 == 3 ? polls : posts,
                sink: sink,
                into: &page
            )
        }
        _ = try store.deletePost(PostID(rawValue: 6), sink: sink)
        return store
    }
}
