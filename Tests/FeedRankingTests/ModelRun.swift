import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization

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
            voters.append(try store.voter(forDevice: (number, 7)))
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

    private mutating func refresh() {
        store.refresh(stripeOf: PostID(rawValue: anyID()))
    }

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
        if random.oneIn(50) {
            return UInt64.random(in: 0...givenCount + 3, using: &random)
        }
        // Few posts get most votes, so that scores spread.
        let first = Int.random(in: 0..<max(ids.count, 1), using: &random)
        let place = random.oneIn(2) ? first : first % max(ids.count / 8, 1)
        return place < ids.count ? ids[place] : 1
    }
}
