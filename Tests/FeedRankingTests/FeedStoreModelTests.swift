import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

/// Replay one seed with `FEED_SEED=<seed> swift test --filter FeedStoreModelTests`.
@Suite struct FeedStoreModelTests {
    /// On a thread of its own, one after the other: a minute's computing, beside which other tests
    /// wait for sockets.
    @Test(.serialized, arguments: TestEnvironment.seeds(1...40))
    func behavesAsTheModel(seed: UInt64) async throws {
        let difference: String? = try await offload {
            var run = try ModelRun(seed: seed)
            do {
                try run.run(TestEnvironment.modelOperations(1_200_000) / 40)
                return nil
            } catch {
                return "FEED_SEED=\(seed), \(run.shape.stripeCount) stripes: \(error)"
            }
        }
        #expect(difference == nil)
    }

    /// Votes on many posts and short heads: most pages stay as they are for a while.
    @Test(arguments: TestEnvironment.seeds(1...6))
    func keepsPagesUntilTheyChange(seed: UInt64) throws {
        var run = try ModelRun(seed: seed) { shape in
            shape.stripeCount = [1, 2, 4][Int(seed % 3)]
            shape.postLimit = 2_000
            shape.allowanceKeyCount = 1_000_000
            shape.pace.headPostCount = 1
            (shape.readShare, shape.otherShare, shape.keptShare) = (50, 50, 8)
        }
        for _ in 0..<800 { try run.create() }
        do { try run.run(4_000) } catch { Issue.record("FEED_SEED=\(seed): \(error)") }
        #expect(run.outlivedCount > 5, "Some pages stay while posts change; seed \(seed).")
    }

    @Test func seesAWrongTime() throws {
        var run = try ModelRun(seed: 3)
        run.model.ignoresImportedTimes = true
        #expect(throws: Difference.self) { try run.run(20_000) }
    }

    @Test func seesAWrongTie() throws {
        var run = try ModelRun(seed: 3)
        run.model.ignoresTitles = true
        #expect(throws: Difference.self) { try run.run(20_000) }
    }
}

/// Random operations on a store and the model, compared after each.
struct ModelRun {
    /// What a run is made of; all of it follows from the seed.
    struct Shape {
        var stripeCount: Int
        var postLimit: Int
        var readShare: Int
        var titles: [String]
        var allowanceKeyCount: Int
        var pace: RefreshPace
        /// One write in so many is no vote by choice; 1 is the usual mix.
        var otherShare = 1
        /// One operation in so many looks at the kept pages.
        var keptShare: Int
    }

    struct SavedCursor {
        var cursor: PageCursor
        var anchor: FeedModel.Anchor
    }

    var random: SeededGenerator
    let shape: Shape
    let clock = TestClock()
    let store: FeedStore
    var model = FeedModel()
    var page = PostPage()
    var ids: [UInt64] = []
    var givenCount: UInt64 = 0
    var feeds: [FeedID] = []
    var voters: [VoterID] = []
    var cursors: [SavedCursor] = []
    var kept: [KeptPage] = []
    /// How often a kept page was compared after other changes.
    var outlivedCount = 0

    init(seed: UInt64, _ adjust: (inout Shape) -> Void = { _ in }) throws {
        random = SeededGenerator(seed: seed)
        let isLarge = random.oneIn(4)
        var shape = Shape(
            stripeCount: [1, 2, 4, 16].randomElement(using: &random) ?? 1,
            postLimit: isLarge ? 6_000 : [3, 40, 300].randomElement(using: &random) ?? 40,
            readShare: isLarge ? 300 : 8,
            titles: Self.titles(&random),
            allowanceKeyCount: [1, 50, 1_000_000].randomElement(using: &random) ?? 1,
            pace: Self.pace(&random),
            keptShare: isLarge ? 1_200 : 32
        )
        adjust(&shape)
        self.shape = shape
        let clock = clock
        store = FeedStore(stripeCount: shape.stripeCount, pace: shape.pace) {
            clock.milliseconds.load(ordering: .relaxed)
        }
        feeds = [FeedID(rawValue: 0), FeedID(rawValue: 1)]
        feeds.append(try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot)))
        feeds.append(try store.createFeed(FeedPolicy(name: "users", voteMode: .userBallot)))
        model.ballotFeeds = [2, 3]
        model.userFeeds = [3]
        for number in 0..<6 as Range<UInt64> {
            voters.append(try store.voter(for: .device(Device16(high: number, low: 7))))
            voters.append(try store.voter(for: .user(number | [1 << 63, 8][Int(number) % 2])))
        }
    }

    /// Runs so many operations; throws the first difference.
    mutating func run(_ count: Int) throws {
        for step in 0..<count {
            if random.oneIn(shape.readShare) {
                try read()
            } else {
                try write()
            }
            if random.oneIn(shape.keptShare) { try useKeptPages() }
            if random.oneIn(20_000) || step == count - 1 {
                store.checkInvariants()
                try compareWhole()
            }
        }
    }

    func expect(_ isEqual: Bool, _ text: @autoclosure () -> String) throws {
        if !isEqual { throw Difference(description: text()) }
    }

    // MARK: Writes

    private mutating func write() throws {
        tick()
        guard random.oneIn(shape.otherShare) else { return try vote() }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<6: try create()
        case 6..<9 where ids.count > 2: try delete()
        case 9..<14: try update()
        case 14 where random.oneIn(4): refresh()
        case 15: try importPosts()
        case 16 where random.oneIn(8): try correctTimes()
        default: try vote()
        }
    }

    private mutating func tick() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: clock.milliseconds.wrappingAdd(700, ordering: .relaxed)
        case 1: clock.milliseconds.wrappingSubtract(300, ordering: .relaxed)
        // Five minutes and more: the store does not wait until the clock has caught up.
        case 2 where random.oneIn(40):
            clock.milliseconds.wrappingSubtract(300_500, ordering: .relaxed)
        case 3 where random.oneIn(40):
            clock.milliseconds.wrappingAdd(300_400, ordering: .relaxed)
        // Posts leave windows, and come back where the clock is set back.
        case 4 where random.oneIn(40):
            let span = Window.allCases.randomElement(using: &random) ?? .hour
            let time = Int64.random(in: 0...span.milliseconds, using: &random)
            clock.milliseconds.wrappingAdd(random.oneIn(8) ? -time : time, ordering: .relaxed)
        default: break
        }
    }

    private mutating func refresh() { store.refresh(stripeOf: PostID(rawValue: anyID())) }

    mutating func create() throws {
        guard ids.count < shape.postLimit else { return try delete() }
        let feed = feeds.randomElement(using: &random) ?? feeds[0]
        let content = PostContent(
            authorName: "author",
            title: shape.titles.randomElement(using: &random) ?? "",
            text: random.oneIn(3) ? "text" : "",
            linkURL: random.oneIn(5) ? "http://link" : "",
            commentCount: UInt64.random(in: 0..<9, using: &random)
        )
        page.removeAll()
        let outcome = try store.createPost(content, in: feed, into: &page)
        let time = model.time(at: clock.milliseconds.load(ordering: .relaxed))
        model.revision += 1
        givenCount += 1
        let post = FeedModel.Post(
            id: givenCount,
            feed: feed.rawValue,
            content: content,
            time: time,
            updateTime: time,
            revision: model.revision,
            editRevision: model.revision
        )
        model.posts[givenCount] = post
        ids.append(givenCount)
        try expect(outcome.revision == model.revision, "create: revision \(outcome.revision)")
        try compareRows([post], voter: nil, "create")
    }

    private mutating func delete() throws {
        let id = anyID()
        let post = model.posts[id]
        let expected = expectedRevision(post)
        let result = Result { () throws(RankingError) in
            try store.deletePost(PostID(rawValue: id), expectedRevision: expected)
        }
        switch result {
        case .success(let outcome):
            try expect(id > 0 && id <= givenCount, "delete \(id): it was never given")
            if let post {
                try expect(post.admits(expected, at: model.revision), "delete: wrong revision")
                model.revision += 1
                model.posts[id] = nil
                ids.removeAll { $0 == id }
            }
            try expect(outcome.revision == model.revision, "delete: revision")
        case .failure(.revisionMismatch(_, let actual)):
            let isRight =
                post?.editRevision == actual && post?.admits(expected, at: model.revision) == false
            try expect(isRight, "delete: mismatch")
        case .failure(let error):
            let isNotFound = error == .postNotFound(PostID(rawValue: id))
            try expect(isNotFound && (id == 0 || id > givenCount), "delete \(id): \(error)")
        }
    }

    private mutating func update() throws {
        let id = anyID()
        let expected = expectedRevision(model.posts[id])
        let changes = PostChanges(
            title: random.oneIn(2) ? shape.titles.randomElement(using: &random) : nil,
            text: random.oneIn(3) ? "new text" : nil,
            imageURL: random.oneIn(3) ? "http://image" : nil,
            commentCount: random.oneIn(3) ? 77 : nil
        )
        page.removeAll()
        do throws(RankingError) {
            try store.updatePost(
                PostID(rawValue: id),
                changes,
                expectedRevision: expected,
                into: &page
            )
        } catch .postNotFound {
            return try expect(model.posts[id] == nil, "update \(id): not found")
        } catch {
            let actual = model.posts[id]?.editRevision ?? 0
            let mismatch = RankingError.revisionMismatch(expected: expected, actual: actual)
            let isRight =
                error == mismatch
                && model.posts[id]?.admits(expected, at: model.revision) == false
            return try expect(isRight, "update \(id): \(error)")
        }
        guard var post = model.posts[id], post.admits(expected, at: model.revision) else {
            throw Difference(description: "update \(id): found")
        }
        post.updateTime = model.time(at: clock.milliseconds.load(ordering: .relaxed))
        model.revision += 1
        post.content.title = changes.title ?? post.content.title
        post.content.text = changes.text ?? post.content.text
        post.content.imageURL = changes.imageURL ?? post.content.imageURL
        post.content.commentCount = changes.commentCount ?? post.content.commentCount
        post.revision = model.revision
        post.editRevision = model.revision
        model.posts[id] = post
        try compareRows([post], voter: nil, "update")
    }

    private mutating func vote() throws {
        let id = anyID()
        let direction: VoteDirection =
            random.oneIn(9) ? .clear : random.oneIn(3) ? .down : .up
        let voter = random.oneIn(8) ? nil : voters.randomElement(using: &random)
        let expected = model.vote(
            id,
            direction,
            voter: voter?.rawValue,
            at: clock.milliseconds.load(ordering: .relaxed)
        )
        let result = Result { () throws(RankingError) in
            try store.castVote(PostID(rawValue: id), direction, voter: voter)
        }
        switch result {
        case .success(let outcome):
            let post = model.posts[id]
            try expect(
                expected == nil && outcome.score == post?.score
                    && outcome.upvoteCount == post?.upvotes
                    && outcome.downvoteCount == post?.downvotes
                    && outcome.revision == post?.revision
                    && outcome.standingVote == voter.flatMap { post?.ballots[$0.rawValue] },
                "vote \(id): \(outcome), not \(String(describing: post))"
            )
            if outcome.refreshIsDue && random.oneIn(2) {
                store.refresh(stripeOf: PostID(rawValue: id))
                if random.oneIn(max(ids.count, 20)) { store.checkInvariants() }
            }
        case .failure(let error):
            try expect(error == expected, "vote \(id): \(error)")
        }
    }

    /// Any revision, one that the post has or had, or one of another time.
    private mutating func expectedRevision(_ post: FeedModel.Post?) -> UInt64 {
        guard let post, random.oneIn(2) else { return 0 }
        let candidates = [
            post.revision, post.editRevision, post.editRevision - 1, post.revision + 1,
            model.revision, model.revision + 1,
            UInt64.random(in: 1...model.revision, using: &random),
        ]
        return candidates.randomElement(using: &random) ?? 0
    }

    /// A post that lives, mostly.
    mutating func anyID() -> UInt64 {
        if random.oneIn(50) { return UInt64.random(in: 0...givenCount + 3, using: &random) }
        // Few posts get most votes, so that scores spread.
        let first = Int.random(in: 0..<max(ids.count, 1), using: &random)
        let place = random.oneIn(2) ? first : first % max(ids.count / 8, 1)
        return place < ids.count ? ids[place] : 1
    }
}

extension ModelRun {
    /// Imports a few posts, or many: with times before, among and behind those that are there.
    mutating func importPosts() throws {
        let most = random.oneIn(10) ? 256 : 5
        let count = Int.random(in: 1...most, using: &random)
        guard ids.count + count <= shape.postLimit else { return }
        let feed = feeds.randomElement(using: &random) ?? feeds[0]
        var posts: [ImportedPost] = []
        for _ in 0..<count { posts.append(importedPost()) }
        let outcome = try store.importPosts(posts, in: feed)
        try expect(outcome.firstID.rawValue == givenCount + 1, "import: \(outcome.firstID)")
        for post in posts {
            model.revision += 1
            givenCount += 1
            let time =
                model.ignoresImportedTimes
                ? 1_800_000_000_000 + Int64(givenCount) : post.createTimeMilliseconds
            model.posts[givenCount] = FeedModel.Post(
                id: givenCount,
                feed: feed.rawValue,
                content: post.content,
                time: time,
                updateTime: time,
                upvotes: post.upvoteCount,
                downvotes: post.downvoteCount,
                revision: model.revision,
                editRevision: model.revision
            )
            ids.append(givenCount)
        }
        try expect(outcome.revision == model.revision, "import: revision \(outcome.revision)")
        for id in outcome.refreshDue where random.oneIn(2) { store.refresh(stripeOf: id) }
    }

    private mutating func importedPost() -> ImportedPost {
        let now = clock.milliseconds.load(ordering: .relaxed)
        let times = [
            0, 1, 999, 1_134_028_003_000, now, now - 1, now + 300_000,
            Int64.random(in: 0...now, using: &random),
            // Few seconds, so that many posts share one.
            now - 1_000 * Int64.random(in: 0..<8, using: &random),
        ]
        return ImportedPost(
            content: PostContent(
                authorName: random.oneIn(2) ? "author" : "",
                title: shape.titles.randomElement(using: &random) ?? "",
                thumbnailURL: random.oneIn(3) ? "http://thumbnail" : "",
                commentCount: random.oneIn(9) ? 1 << 53 : 3
            ),
            createTimeMilliseconds: times.randomElement(using: &random) ?? 0,
            upvoteCount: importedCount(),
            downvoteCount: importedCount()
        )
    }

    /// Mostly about what votes make of a post, so that the two mix; at times the most there may be.
    private mutating func importedCount() -> UInt64 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: RankingLimits.maximumImportedCount
        case 1, 2: UInt64.random(in: 0..<10_000, using: &random)
        case 3, 4, 5: 0
        default: UInt64.random(in: 0..<12, using: &random)
        }
    }
}

extension ModelRun {
    /// All orders, and those that allow one in each window.
    static let lists: [(Order, Window?)] =
        Order.allCases.map { ($0, nil) }
        + Order.allCases.filter(\.allowsWindow).flatMap { order in
            Window.allCases.map { (order, $0) }
        }

    mutating func list(_ feed: UInt32?, _ order: Order, _ window: Window?) -> [FeedModel.Post] {
        let now = clock.milliseconds.load(ordering: .relaxed)
        // A store reads the time for lists that it makes on demand, and for no others.
        let isOnDemand = window != nil || ![.top, .new, .old, .hot].contains(order)
        let end = isOnDemand ? model.windowTime(at: now) : 0
        return model.list(feed, order, window, endingAt: end)
    }
}

/// What the parts of a shape are drawn from.
extension ModelRun {
    /// The pace of the service, or one that does most of a refresh in many small steps.
    static func pace(_ random: inout SeededGenerator) -> RefreshPace {
        var pace = RefreshPace()
        guard !random.oneIn(4) else { return pace }
        pace.minimumStaleCount = [1, 5, 100].randomElement(using: &random) ?? 1
        pace.wholePostCount = [0, 0, 200].randomElement(using: &random) ?? 0
        pace.stepKeyCount = [1, 40, 1_000].randomElement(using: &random) ?? 1
        // So few steps that a request still ends within the tries that a run allows.
        pace.sideStepPostCount = pace.stepKeyCount == 1 ? 1_500 : pace.sideStepPostCount
        // With more, most posts of a small run lie in the heads.
        pace.headPostCount = [1, 512].randomElement(using: &random) ?? 1
        return pace
    }

    static func titles(_ random: inout SeededGenerator) -> [String] {
        let short = ["", "a", "b", "ab", "é", " "]
        let long = ["the same", "the same beginning", "the same beginning 2", "the samf"]
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return short
        case 1: return long + [String(repeating: "the same", count: 40)]
        default: return short + long
        }
    }
}

extension ModelRun {
    /// Corrects posts behind some id that lie after some time, or only finds them.
    mutating func correctTimes() throws {
        let now = clock.milliseconds.load(ordering: .relaxed)
        let bound = random.oneIn(3) ? now : Int64.random(in: 0...now + 300_000, using: &random)
        let start = random.oneIn(2) ? 0 : UInt64.random(in: 0...givenCount + 3, using: &random)
        let idCount = ([1, 30, 1_000_000] as [UInt64]).randomElement(using: &random) ?? 1
        let postCount = [1, 3, 100].randomElement(using: &random) ?? 1
        // Few different times, so that ties are frequent.
        let correction = random.oneIn(4) ? nil : bound - bound % 1_000_000_000
        let found = store.postsAhead(
            of: bound,
            behind: PostID(rawValue: start),
            idCount: idCount,
            postCount: postCount,
            correctingTo: correction
        )
        let first = min(start, givenCount) + 1
        let expected = model.correctTimes(
            after: bound,
            to: correction,
            ids: first..<min(givenCount, start + idCount) + 1,
            postCount: postCount
        )
        try expect(
            found.posts.map(\.id.rawValue) == expected.found.map(\.id)
                && found.posts.map(\.createTimeMilliseconds) == expected.found.map(\.time)
                && found.posts.map(\.updateTimeMilliseconds) == expected.found.map(\.updateTime),
            "times: \(found.posts), not \(expected.found)"
        )
        let next = expected.lastID < givenCount ? PostID(rawValue: expected.lastID) : nil
        try expect(start >= givenCount || found.next == next, "times: \(found), not \(expected)")
        let isCorrected = correction != nil && !expected.found.isEmpty
        try expect(found.revision == (isCorrected ? model.revision : 0), "times: revision")
    }
}
