import Foundation
import LoadGen
import Testing

@Suite struct VoteAuditTests {
    /// A post whose votes were answered with these scores.
    private func account(
        before: Int64 = 0,
        scores: [Int64],
        errors: UInt64 = 0,
        unknown: UInt64 = 0
    ) -> PostAccount {
        var account = PostAccount(id: 7)
        account.scoreBefore = before
        for score in scores { account.tally.acknowledge(score: score) }
        account.errorCount = errors
        account.unknownCount = unknown
        return account
    }

    private func counts(_ account: PostAccount, score: Int64?) -> [Violation: UInt64] {
        var audit = VoteAudit()
        audit.check(account, score: score)
        return audit.findings.counts
    }

    @Test(arguments: [0, 5, -3, 1 << 40] as [Int64])
    func passesWhatCountedOnce(_ before: Int64) {
        let scores = (1...100).map { before + $0 }
        #expect(counts(account(before: before, scores: scores), score: before + 100).isEmpty)
        #expect(
            counts(account(before: before, scores: scores.shuffled()), score: before + 100).isEmpty
        )
    }

    @Test func passesAPostWithoutVotes() {
        #expect(counts(account(scores: []), score: 0).isEmpty)
    }

    @Test func seesALostVote() {
        #expect(counts(account(scores: [1, 2, 3]), score: 2) == [.lostVote: 1])
    }

    @Test(arguments: [Int64.min, .max])
    func takesAnyScoreThatAServiceSends(_ score: Int64) {
        #expect(!counts(account(scores: [1, 2, 3]), score: score).isEmpty)
    }

    /// The differences of two such posts add up to more than a number holds.
    @Test(arguments: [(Int64.min, Violation.lostVote), (.max, .extraVote)])
    func countsDifferencesBeyondEveryNumber(_ score: Int64, _ violation: Violation) {
        var audit = VoteAudit()
        for _ in 0..<3 { audit.check(account(scores: [1, 2, 3]), score: score) }
        var sum = audit.findings
        sum.add(audit.findings)
        #expect(audit.findings.counts[violation] == .max)
        #expect(sum.counts[violation] == .max)
    }

    @Test func seesAVoteThatCountedTwice() {
        #expect(counts(account(scores: [1, 2, 3]), score: 5) == [.extraVote: 2])
    }

    @Test func seesAnErrorThatCounted() {
        #expect(counts(account(scores: [1, 2], errors: 2), score: 3) == [.countedError: 1])
        #expect(counts(account(scores: [1, 2], errors: 2), score: 2).isEmpty)
    }

    @Test func letsUnknownVotesCountOrNot() {
        for score in 2...4 as ClosedRange<Int64> {
            #expect(counts(account(scores: [1, 2], unknown: 2), score: score).isEmpty)
        }
        #expect(counts(account(scores: [1, 2], unknown: 2), score: 1) == [.lostVote: 1])
        #expect(counts(account(scores: [1, 2], unknown: 2), score: 5) == [.extraVote: 1])
    }

    @Test(arguments: [[1, 2, 2], [1, 3, 3], [0, 1, 2], [2, 3, 4], [1, 1, 4]] as [[Int64]])
    func seesADuplicateOrMissingScore(_ scores: [Int64]) {
        #expect(counts(account(scores: scores), score: 3) == [.brokenSequence: 1])
    }

    @Test(arguments: [2, 3, 4] as [UInt64])
    func seesCountsThatAreNotThoseOfTheFile(_ planned: UInt64) {
        let found: [Violation: UInt64] = planned == 3 ? [:] : [.notAsPlanned: 1]
        var account = account(scores: [1, 2, 3])
        account.planned = planned
        var audit = VoteAudit()
        #expect(audit.check(account, score: 3) == found.isEmpty)
        #expect(audit.findings.counts == found)
    }

    @Test func seesAPostThatIsGone() {
        #expect(counts(account(scores: [1]), score: nil) == [.missingPost: 1])
    }

    @Test func countsExactPosts() {
        var audit = VoteAudit()
        audit.check(account(scores: [1, 2]), score: 2)
        audit.check(account(scores: [1], unknown: 1), score: 2)
        #expect(audit.exactPostCount == 1)
        #expect(audit.countedVoteCount == 4)
    }

    @Test func sumsOfThreadsAddUp() {
        var one = VoteTally()
        var other = VoteTally()
        for score in 1...50 as ClosedRange<Int64> { one.acknowledge(score: score) }
        for score in 51...90 as ClosedRange<Int64> { other.acknowledge(score: score) }
        one.add(other)
        #expect(one == VoteTally.complete(count: 90, after: 0))
    }

    /// The number of votes and the sum of their scores share a word.
    @Test func noScoreChangesTheNumberOfVotes() {
        var random = RandomStream(seed: 4, thread: 0, client: 0)
        let some: [Int64] = [0, -1, 1, .min, .max, 1 << 20 - 1, 1 << 20, 1 << 44]
        let scores = some + (0..<1000).map { _ in Int64(truncatingIfNeeded: random.next()) }
        var tally = VoteTally()
        for (number, score) in scores.enumerated() {
            tally.acknowledge(score: score)
            let values = scores[...number].map { UInt64(bitPattern: $0) }
            #expect(tally.acknowledged == UInt64(number + 1))
            #expect(tally.scoreSum == values.reduce(0, &+) % (1 << 20))
            #expect(tally.squareSum == values.reduce(0) { $0 &+ $1 &* $1 })
        }
        let most = VoteTally(acknowledged: VoteTally.mostVotes, scoreSum: 3, squareSum: 9)
        #expect(most.acknowledged == VoteTally.mostVotes)
        #expect(most.scoreSum == 3)
    }

    @Test func closedFormsHoldForCountsBeyondHalfAWord() {
        let count: UInt64 = 5_000_000_000
        let before = VoteTally.complete(count: count, after: 3)
        var next = before
        next.acknowledge(score: Int64(count) + 4)
        #expect(next == VoteTally.complete(count: count + 1, after: 3))
    }

    @Test func scoresOfAConnectionMustRise() {
        let memory = ScoreMemory(clientCount: 2)
        let answers: [(client: Int, post: UInt32, score: Int64, rises: Bool)] = [
            (0, 1, 5, true), (0, 1, 6, true), (0, 1, 6, false), (0, 1, 4, false), (0, 1, 9, true),
            (1, 1, 2, true), (0, 17, 1, true), (0, 1, 3, true),
        ]
        for answer in answers {
            let rises = memory.rises(client: answer.client, post: answer.post, score: answer.score)
            #expect(rises == answer.rises, "\(answer)")
        }
    }
}

/// Pages beside what acknowledged votes have shown.
@Suite struct AcknowledgedScoresTests {
    private func post(_ id: UInt64, _ score: Int64) -> ListedPost {
        ListedPost(id: id, score: score, title: "t", createTimeMilliseconds: 0)
    }

    /// Post 1 had score 5 at time 10, and post 2 score 7 at time 20.
    ///
    /// The vote on it before that is answered last.
    private func scores() throws -> AcknowledgedScores {
        var scores = try #require(AcknowledgedScores(of: Mix([.vote: 1, .page: 1]), .scores))
        scores.time = 10
        scores.note(1, score: 5)
        scores.time = 20
        scores.note(2, score: 7)
        scores.time = 30
        scores.note(2, score: 6)
        return scores
    }

    @Test(
        "a page that was asked for later shows the vote",
        arguments: [
            ([(1, 5)], 11, false, 0), ([(1, 4)], 11, false, 1), ([(1, 4)], 10, false, 0),
            ([(1, 6), (2, 8)], 21, true, 0), ([(2, 6), (1, 4)], 21, true, 2),
            ([(2, 6), (1, 4)], 20, true, 1), ([(3, 6)], 21, true, 1), ([(3, 6)], 20, true, 0),
            ([(3, 6)], 21, false, 0), ([(3, 7)], 21, true, 0), ([], 21, true, 0),
        ] as [([(UInt64, Int64)], UInt64, Bool, UInt64)]
    )
    func findsWhatIsStale(
        _ page: [(UInt64, Int64)],
        _ time: UInt64,
        _ isFirst: Bool,
        _ count: UInt64
    ) throws {
        var findings = Findings()
        try scores().check(
            page.map { post($0.0, $0.1) },
            isFirst: isFirst,
            askedAt: time,
            into: &findings
        )
        #expect(findings.counts[.stalePage] ?? 0 == count)
    }

    @Test("runs without pages, and those in which scores fall, note nothing")
    func areForRisingScores() {
        #expect(AcknowledgedScores(of: .vote, .scores) == nil)
        #expect(AcknowledgedScores(of: .feed, .ballots) == nil)
        #expect(AcknowledgedScores(of: .feed, .directions) == nil)
        #expect(AcknowledgedScores(of: .feed, .scores) != nil)
    }
}

@Suite struct BallotSlabTests {
    @Test func keepsTheBallotsOfEachVoterAndPostApart() {
        let slab = BallotSlab(voterCount: 3, postCount: 5)
        var expected: [[BallotSet]] = Array(repeating: Array(repeating: .none, count: 5), count: 3)
        var random = RandomStream(seed: 5, thread: 0, client: 0)
        for _ in 0..<500 {
            let (voter, post) = (random.nextIndex(below: 3), random.nextIndex(below: 5))
            let set = BallotSet(Ballot.next(&random))
            if random.nextIndex(below: 2) == 0 {
                slab[voter, UInt32(post)] = set
                expected[voter][post] = set
            } else {
                slab[voter, UInt32(post)].insert(set)
                expected[voter][post].insert(set)
            }
            for voter in 0..<3 {
                for post in 0..<5 { #expect(slab[voter, UInt32(post)] == expected[voter][post]) }
            }
        }
        let tallies = (0..<5).map { post in
            var tally = BallotTally()
            for voter in 0..<3 { tally.add(expected[voter][post]) }
            return tally
        }
        #expect(slab.tallies() == tallies)
    }

    @Test func countsWhatStandsAndWhatMayStand() {
        let slab = BallotSlab(voterCount: 6, postCount: 1)
        let sets: [BallotSet] = [.up, .up, .down, .none, [.none, .up], [.up, .down]]
        for (voter, set) in sets.enumerated() { slab[voter, 0] = set }
        let tally = slab.tallies()[0]
        #expect(tally.upCount == 2 && tally.possibleUpCount == 2)
        #expect(tally.downCount == 1 && tally.possibleDownCount == 1)
    }

    @Test(arguments: [(1, 1), (7, 3), (200, 8), (10_000, 500)])
    func dealsEveryVoterToOneConnection(_ voterCount: Int, _ clientCount: Int) {
        var users: Set<UInt64> = []
        var largest = 0
        for client in 0..<clientCount {
            let share = VoterShare(voterCount: voterCount, client: client, clientCount: clientCount)
            for voter in 0..<share.count { users.insert(share.userID(UInt16(voter))) }
            largest = max(largest, share.count)
        }
        #expect(users == Set((0..<voterCount).map { 1 << 63 | UInt64($0) }))
        #expect(largest == VoterShare.largest(voterCount: voterCount, clientCount: clientCount))
    }
}

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

@Suite struct RunRecordTests {
    private func sample() -> RunRecord {
        let tally = VoteTally(acknowledged: 3, scoreSum: .max, squareSum: 1 << 63)
        var record = RunRecord()
        record.instanceID = .max
        (record.startMilliseconds, record.endMilliseconds) = (5, 9)
        record.tallied = .directions
        record.accounts = Tallied.directions.accounts(
            [7, 8, 3],
            [tally, VoteTally(), VoteTally(), tally, VoteTally(), VoteTally()]
        )
        record.feeds = [RunRecord.Feed(name: "books", ids: [7, 8])]
        (record.accounts[0].unknownCount, record.accounts[5].unknownCount) = (2, 1)
        record.accounts[1].errorCount = 4
        record.accounts[3].repeatedCount = 1
        record.createdIDs = [10, 11, 20]
        record.unknownTitles = ["a \"b\"\n", "c"]
        return record
    }

    private func read(_ text: String) throws -> RunRecord {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        return try RunRecord(readingReport: file.path())
    }

    private func report(_ record: RunRecord) throws -> String {
        var result = RunReport(configuration: try configure([]), environment: Environment())
        result.record = record
        return result.json
    }

    @Test func comesBackFromAReportAsItWas() throws {
        #expect(try read(try report(sample())) == sample())
    }

    @Test(arguments: [
        (#""instance":"ffffffffffffffff""#, #""instance":"x""#),
        (#""tallied":"directions""#, #""tallied":"scores""#),
        (#""posts":[7,2,3,1],"rep"#, #""posts":[7,2,3],"rep"#),
        (#""posts":[7,2,3,1],"rep"#, #""posts":[7,900000000000],"rep"#),
        (#""unknown":[0,2,5,1]"#, #""unknown":[0,2,6,1]"#),
        (#""unknown":[0,2,5,1]"#, #""unknown":[0,2,0,1]"#),
        (#""unknown":[0,2,5,1]"#, #""unknown":[0,18446744073709551615]"#),
        (#""created":[10,2,20,1]"#, #""created":[18446744073709551615,2]"#),
        (#""created":[10,2,20,1]"#, #""created":[10,99999998]"#),
        (#""acknowledged":[3,"#, #""acknowledged":[3,3,"#),
        (#""acknowledged":[3,"#, #""acknowledged":[-3,"#),
    ])
    func refusesWhatDoesNotFitTogether(_ part: String, _ replacement: String) throws {
        let text = try report(sample()).filter { !$0.isWhitespace }
        #expect(text.contains(part))
        #expect(throws: RunFailure.self) { try read(text.replacing(part, with: replacement)) }
    }

    @Test func keepsManyIDsShort() {
        #expect(NumberRanges.encode(1...1_000_000) == [1, 1_000_000])
        #expect(NumberRanges.encode([5, 6, 4, 9]) == [5, 2, 4, 1, 9, 1])
        #expect(NumberRanges.decode([5, 2, 4, 1, 9, 1], limit: 4) == [5, 6, 4, 9])
        #expect(NumberRanges.decode([5, 2, 4, 1, 9, 1], limit: 3) == nil)
        #expect(NumberRanges.decode([], limit: 0) == [])
        #expect(NumberRanges.encode([.max - 1, .max, 0, 1]) == [.max - 1, 2, 0, 2])
        #expect(NumberRanges.decode([.max, 1], limit: 9) == nil)
    }
}

@Suite struct FeedWalkTests {
    private func post(
        _ id: UInt64,
        _ score: Int64,
        _ title: String = "t",
        time: Int64 = 0
    ) -> ListedPost {
        ListedPost(id: id, score: score, title: title, createTimeMilliseconds: time)
    }

    private func walk(
        _ expectation: FeedWalk.Expectation,
        _ pages: [[ListedPost]],
        announced: UInt64? = nil
    ) -> [Violation: UInt64] {
        var walk = FeedWalk(expectation)
        for page in pages { walk.visit(page) }
        walk.finish(announcedCount: announced)
        return walk.findings.counts
    }

    @Test func seesAPostThatWasNotImported() {
        let expectation = FeedWalk.Expectation(scores: [1: 5], isWhole: true)
        #expect(walk(expectation, [[post(1, 5)]]).isEmpty)
        #expect(walk(expectation, [[post(1, 5), post(2, 4)]]) == [.phantomPost: 1])
    }

    /// Swift takes them for equal, the order does not.
    @Test func ordersTitlesByTheirBytes() {
        let composed = ListedPost(id: 2, score: 1, title: "\u{E9}")
        let decomposed = ListedPost(id: 3, score: 1, title: "e\u{301}")
        #expect(decomposed.precedes(composed))
        #expect(!composed.precedes(decomposed))
    }

    @Test func passesEveryPostOnceInOrder() {
        let pages = [
            [post(4, 9), post(1, 5, "a")], [post(9, 5, "b"), post(2, 5, "c"), post(3, 5, "c")],
        ]
        let expectation = FeedWalk.Expectation(scores: [1: 5, 2: 5, 3: 5, 4: 9])
        #expect(walk(expectation, pages, announced: 5).isEmpty)
    }

    @Test(arguments: [
        [[ListedPost(id: 1, score: 4, title: ""), ListedPost(id: 2, score: 5, title: "")]],
        [[ListedPost(id: 1, score: 4, title: "")], [ListedPost(id: 2, score: 5, title: "")]],
        [[ListedPost(id: 1, score: 5, title: "b"), ListedPost(id: 2, score: 5, title: "a")]],
        [[ListedPost(id: 2, score: 5, title: "a"), ListedPost(id: 1, score: 5, title: "a")]],
    ])
    func seesAPostOutOfOrder(_ pages: [[ListedPost]]) {
        #expect(walk(FeedWalk.Expectation(scores: [:]), pages) == [.pageOrder: 1])
    }

    @Test func saysWhetherAPageHasAPostThatIsNew() {
        var walk = FeedWalk(FeedWalk.Expectation(scores: [:]))
        let pages = [
            [post(1, 5), post(2, 4)], [post(2, 4), post(3, 3)], [post(3, 3), post(1, 5)], [],
        ]
        #expect(pages.map { walk.visit($0) } == [true, true, false, false])
    }

    @Test func seesAPostTwice() {
        let pages = [[post(1, 5), post(2, 4)], [post(2, 4), post(3, 3)]]
        #expect(walk(FeedWalk.Expectation(scores: [:]), pages) == [.listedTwice: 1])
    }

    @Test func seesAPostThatIsNotListed() {
        let expectation = FeedWalk.Expectation(scores: [1: 5, 2: 4], createdIDs: [3])
        #expect(walk(expectation, [[post(1, 5)]]) == [.notListed: 2])
    }

    @Test func seesAScoreThatMoved() {
        let expectation = FeedWalk.Expectation(scores: [1: 5])
        #expect(walk(expectation, [[post(1, 6)]]) == [.movingScore: 1])
    }

    @Test func seesAnotherNumberOfPostsThanAnnounced() {
        #expect(
            walk(FeedWalk.Expectation(scores: [:]), [[post(1, 6)]], announced: 2) == [.walkCount: 1]
        )
    }

    @Test func seesAPostThatNobodyCreated() {
        let mine = PostText.title(maker: 3, number: 1)
        let unknown = PostText.title(maker: 3, number: 2)
        let expectation = FeedWalk.Expectation(
            scores: [:],
            createdIDs: [5],
            unknownTitles: [unknown],
            startMilliseconds: 100
        )
        // An acknowledged one, an unknown one, one of an earlier run and one of somebody else.
        let fine = [
            post(5, 4, mine, time: 100), post(6, 3, unknown, time: 101), post(7, 2, mine, time: 99),
            post(8, 1, "hello", time: 101),
        ]
        #expect(walk(expectation, [fine]).isEmpty)
        #expect(walk(expectation, [fine + [post(9, 0, mine, time: 102)]]) == [.phantomPost: 1])
        #expect(walk(expectation, [fine + [post(9, 0, unknown, time: 102)]]) == [.phantomPost: 1])
    }

    @Test func checksOnePageByItself() {
        var findings = Findings()
        PageCheck.check([post(1, 5), post(2, 4)], into: &findings)
        #expect(findings.isEmpty)
        PageCheck.check([post(1, 4), post(2, 5)], into: &findings)
        PageCheck.check([post(1, 5), post(2, 4), post(1, 3)], into: &findings)
        #expect(findings.counts == [.pageOrder: 1, .listedTwice: 1])
    }
}
