import LoadGen
import Testing

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
