import FeedRanking
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
        let device = try store.voter(forDevice: (0, 7))
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
        for voter in [nil, try store.voter(forDevice: (1, 2))] {
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
