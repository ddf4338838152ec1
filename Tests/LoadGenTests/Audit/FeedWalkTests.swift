import LoadGen
import Testing

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
