import FeedRanking
import FeedTestSupport
import Testing

@Suite struct FilteredPageTests {
    private static let viewer = VoterID(rawValue: 3)

    /// Random posts of few authors with random votes and marks, in lists with a random filter.
    private struct Sample {
        let feed: ListedFeed
        var random: SeededGenerator
        var authors: [PostID: UInt64] = [:]

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            feed = try ListedFeed(
                postCount: 0,
                stripeCount: [1, 4, 16].randomElement(using: &random) ?? 1
            )
            for _ in 0..<Int.random(in: 1...900, using: &random) {
                let author = UInt64.random(in: 0...3, using: &random)
                authors[try feed.create(authorID: author)] = author
            }
            for id in authors.keys.sorted() {
                if random.oneIn(3) { _ = try feed.store.castVote(id, .up) }
                if random.oneIn(3) { try mark(id, .read) }
                if random.oneIn(3) { try mark(id, .dismissed) }
            }
        }

        private func mark(_ id: PostID, _ mark: Mark) throws {
            try feed.store.mark([id], as: mark, by: viewer)
        }

        mutating func filter() -> (PageFilter, ViewerMarks?) {
            var filter = PageFilter()
            filter.authorID = UInt64.random(in: 0...4, using: &random)
            filter.isUnreadOnly = random.oneIn(2)
            filter.includesDismissed = random.oneIn(2)
            return (filter, random.oneIn(5) ? nil : feed.store.marks(of: viewer))
        }

        func passes(_ row: PostRow, _ filter: PageFilter, _ marks: ViewerMarks?) -> Bool {
            guard filter.authorID == 0 || authors[row.id] == filter.authorID else { return false }
            let origin = PostOrigin(
                id: row.id,
                feed: row.feed,
                createTimeMilliseconds: row.createTimeMilliseconds
            )
            let state = marks?.state(of: origin) ?? ViewerState()
            return !(filter.isUnreadOnly && state.isRead)
                && (filter.includesDismissed || !state.isDismissed)
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...20), [false, true])
    func aFilteredWalkHasThePostsThatPassInOrder(seed: UInt64, isStable: Bool) throws {
        var sample = try Sample(seed: seed)
        for order in Order.allCases {
            let all = PageQuery(feed: ListedFeed.feed, order: order, size: 100)
            var (rows, query) = ([PostRow](), all)
            while true {
                let page = try sample.feed.read(query)
                rows += page.rows
                guard let next = page.next else { break }
                query.start = .cursor(next)
            }
            let (filter, marks) = sample.filter()
            let ranks = rows.indices.filter { sample.passes(rows[$0], filter, marks) }
            try compare(sample, filter, marks, rows, ranks, order, isStable: isStable)
        }
    }

    /// Walks there and back, and compares ids and ranks.
    private func compare(
        _ sample: Sample,
        _ filter: PageFilter,
        _ marks: ViewerMarks?,
        _ rows: [PostRow],
        _ expected: [Int],
        _ order: Order,
        isStable: Bool
    ) throws {
        var random = sample.random
        var query = PageQuery(
            feed: ListedFeed.feed,
            order: order,
            size: Int.random(in: 1...60, using: &random)
        )
        query.filter = filter
        query.marks = marks
        if isStable { query.stability = .stable(from: 0) }
        var there: [PostPage] = []
        repeat {
            if let next = there.last?.next { query.start = .cursor(next) }
            there.append(try sample.feed.read(query))
        } while there.last?.next != nil
        #expect(there.flatMap(\.ids) == expected.map { rows[$0].id }, "\(order)")
        check(there, rows)
        var back = [try #require(there.last)]
        while let previous = back.last?.previous {
            query.start = .cursor(previous)
            back.append(try sample.feed.read(query))
        }
        #expect(back.reversed().flatMap(\.ids) == expected.map { rows[$0].id }, "\(order) back")
        check(back, rows)
    }

    private func check(_ pages: [PostPage], _ rows: [PostRow]) {
        for page in pages {
            #expect(page.totalCount == UInt64(rows.count))
            guard let first = page.rows.first else { continue }
            let rank = (rows.firstIndex { $0.id == first.id } ?? -1) + 1
            #expect(page.firstRank == UInt64(rank))
        }
    }

    @Test func aPageLooksAtSoManyPostsAndNoMore() throws {
        let feed = try ListedFeed(postCount: 0)
        let limit = RankingLimits.maximumScanCount
        let posts = (0..<2 * limit).map { number in
            ImportedPost(
                content: PostContent(authorID: number == 2 * limit - 1 ? 7 : 0),
                createTimeMilliseconds: Int64(number)
            )
        }
        let last =
            try feed.store.importPosts(posts, in: ListedFeed.feed).firstID.rawValue
            + UInt64(posts.count) - 1
        var query = PageQuery(feed: ListedFeed.feed, order: .old, size: 10)
        query.filter.authorID = 7
        let first = try feed.read(query)
        #expect(first.rows.isEmpty)
        query.start = .cursor(try #require(first.next))
        let second = try feed.read(query)
        #expect(second.ids == [PostID(rawValue: last)] || second.rows.isEmpty)
        #expect(try feed.walk(query).live == [PostID(rawValue: last)])
    }

    /// A thread moves posts between the front and the end of TOP while pages of few posts are read.
    @Test func aPostThatMovesBehindThePageComesOnce() async throws {
        let feed = try ListedFeed(postCount: 0)
        for number in 0..<2_000 { try feed.create(authorID: number % 50 == 0 ? 7 : 0) }
        let moving = (0..<40).map { PostID(rawValue: UInt64($0 * 50 + 1)) }
        let isOver = Locked(false)
        async let voting: Void = offload {
            var turn = 0
            while !isOver.withLock({ $0 }) {
                for id in moving {
                    _ = try feed.store.castVote(id, turn % 4 < 2 ? .up : .down)
                }
                turn += 1
            }
        }
        var query = PageQuery(feed: ListedFeed.feed, order: .top, size: 100)
        query.filter.authorID = 7
        var repeated = 0
        for _ in 0..<TestEnvironment.modelOperations(500) {
            let ids = try feed.read(query).ids
            if Set(ids).count < ids.count { repeated += 1 }
        }
        isOver.withLock { $0 = true }
        try await voting
        #expect(repeated == 0)
    }

    @Test func readingAPageDoesNotMakeTheNextOneSkip() throws {
        let feed = try ListedFeed(postCount: 100)
        var query = feed.stable(.old, size: 10)
        query.filter.isUnreadOnly = true
        var ids: [PostID] = []
        while true {
            query.marks = feed.store.marks(of: Self.viewer)
            let page = try feed.read(query)
            ids += page.ids
            try feed.store.mark(page.ids, as: .read, by: Self.viewer)
            guard let next = page.next else { break }
            query.start = .cursor(next)
        }
        #expect(ids == (1...100).map { PostID(rawValue: $0) })
    }
}
