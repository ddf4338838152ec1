import FeedLog
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization

/// Random writes to a store with three logs and to the model, and the commit batches that are taken
/// on the way.
struct ChangeLogRun {
    static let deviceCount: UInt64 = 6

    var random: SeededGenerator
    let store: FeedStore
    let logs = ChangeLogs(count: 3, firstBatch: 1) {}
    private let clock = TestClock()
    /// What the store should be.
    private(set) var model = FeedModel()
    /// The bodies of the commit batches.
    private(set) var bodies: [[UInt8]] = []
    /// The model and the store's hash as of each commit batch.
    private(set) var states: [(model: FeedModel, hash: UInt64)] = []
    private var givenCount: UInt64 = 0
    private var feeds = [FeedID(rawValue: 0), FeedID(rawValue: 1)]
    private var page = PostPage()

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let clock = clock
        store = FeedStore(stripeCount: 4) { clock.milliseconds.load(ordering: .relaxed) }
        try logs[0].transaction { try createFeed(.ballot, logs[0]) }
    }

    /// Executes so many writes, takes a commit batch after every few, and one after the last write.
    mutating func run(_ count: Int, batchEvery interval: Int) throws {
        for _ in 0..<count {
            try write()
            if random.oneIn(interval) { takeBatch() }
        }
        takeBatch()
    }

    private mutating func takeBatch() {
        guard let body = logs.nextBody() else { return }
        bodies.append(body)
        states.append((model, store.stateHash()))
    }

    private mutating func write() throws {
        clock.milliseconds.wrappingAdd(random.oneIn(9) ? 700 : 0, ordering: .relaxed)
        let log = logs[Int.random(in: 0..<3, using: &random)]
        try log.transaction {
            switch Int.random(in: 0..<40, using: &random) {
            case 0..<4: try create(log)
            case 4: try importPosts(log)
            case 5, 6: try update(log)
            case 7 where random.oneIn(2): try delete(log)
            case 8 where random.oneIn(9) && feeds.count < 9:
                try createFeed(random.oneIn(2) ? .ballot : .tally, log)
            case 9 where random.oneIn(4): correctTimes(log)
            default: try vote(log)
            }
        }
    }

    /// Corrects a few posts that lie after some time.
    private mutating func correctTimes(_ log: ChangeLog) {
        let bound = Int64(random.next() % 1_700_000_000_000)
        _ = store.postsAhead(
            of: bound,
            behind: PostID(rawValue: 0),
            idCount: 1_000,
            postCount: 3,
            correctingTo: bound / 2,
            sink: log
        )
        _ = model.correctTimes(
            after: bound,
            to: bound / 2,
            ids: 1..<min(givenCount, 1_000) + 1,
            postCount: 3
        )
    }

    private mutating func createFeed(_ mode: VoteMode, _ log: ChangeLog) throws {
        let policy = FeedPolicy(name: "feed \(feeds.count)", defaultOrder: .old, voteMode: mode)
        let feed = try store.createFeed(policy, sink: log)
        feeds.append(feed)
        if mode == .ballot { model.ballotFeeds.insert(feed.rawValue) }
    }

    private mutating func content() -> PostContent {
        PostContent(
            authorName: random.oneIn(3) ? "" : "author \(random.next() % 9)",
            title: "title \(random.next() % 20)",
            text: String(repeating: "text ", count: Int.random(in: 0..<9, using: &random)),
            linkURL: random.oneIn(2) ? "http://link" : "",
            thumbnailURL: random.oneIn(4) ? "http://thumbnail" : "",
            imageURL: random.oneIn(4) ? "http://image" : "",
            commentCount: random.next() % 300
        )
    }

    private mutating func create(_ log: ChangeLog) throws {
        let feed = feeds.randomElement(using: &random) ?? feeds[0]
        let content = content()
        page.removeAll()
        try store.createPost(content, in: feed, sink: log, into: &page)
        let time = model.time(at: clock.milliseconds.load(ordering: .relaxed))
        insert(content, feed, time, upvotes: 0, downvotes: 0)
    }

    private mutating func insert(
        _ content: PostContent,
        _ feed: FeedID,
        _ time: Int64,
        upvotes: UInt64,
        downvotes: UInt64
    ) {
        model.revision += 1
        givenCount += 1
        model.posts[givenCount] = FeedModel.Post(
            id: givenCount,
            feed: feed.rawValue,
            content: content,
            time: time,
            updateTime: time,
            upvotes: upvotes,
            downvotes: downvotes,
            revision: model.revision,
            editRevision: model.revision
        )
    }

    private mutating func importPosts(_ log: ChangeLog) throws {
        let feed = feeds.randomElement(using: &random) ?? feeds[0]
        let posts = (0..<Int.random(in: 1...9, using: &random)).map { _ in
            ImportedPost(
                content: content(),
                createTimeMilliseconds: Int64(random.next() % 1_700_000_000_000),
                upvoteCount: random.next() % 500,
                downvoteCount: random.oneIn(5) ? RankingLimits.maximumImportedCount : 2
            )
        }
        try store.importPosts(posts, in: feed, sink: log)
        for post in posts {
            insert(
                post.content,
                feed,
                post.createTimeMilliseconds,
                upvotes: post.upvoteCount,
                downvotes: post.downvoteCount
            )
        }
    }

    private mutating func update(_ log: ChangeLog) throws {
        let id = anyID()
        let changes = PostChanges(
            title: random.oneIn(2) ? "title \(random.next() % 20)" : nil,
            text: random.oneIn(2) ? "new text" : nil,
            commentCount: random.oneIn(2) ? 7 : nil
        )
        guard var post = model.posts[id] else {
            _ = try? store.updatePost(PostID(rawValue: id), changes, sink: log, into: &page)
            return
        }
        page.removeAll()
        try store.updatePost(PostID(rawValue: id), changes, sink: log, into: &page)
        post.updateTime = model.time(at: clock.milliseconds.load(ordering: .relaxed))
        model.revision += 1
        post.content.title = changes.title ?? post.content.title
        post.content.text = changes.text ?? post.content.text
        post.content.commentCount = changes.commentCount ?? post.content.commentCount
        post.revision = model.revision
        post.editRevision = model.revision
        model.posts[id] = post
    }

    private mutating func delete(_ log: ChangeLog) throws {
        let id = anyID()
        guard id <= givenCount, id > 0 else { return }
        try store.deletePost(PostID(rawValue: id), sink: log)
        if model.posts.removeValue(forKey: id) != nil { model.revision += 1 }
    }

    private mutating func vote(_ log: ChangeLog) throws {
        let id = anyID()
        let direction: VoteDirection = random.oneIn(5) ? .clear : random.oneIn(3) ? .down : .up
        let device = UInt64.random(in: 0..<Self.deviceCount, using: &random)
        let voter = try store.voter(forDevice: (device, 7), sink: log)
        let expected = model.vote(
            id,
            direction,
            voter: voter.rawValue,
            at: clock.milliseconds.load(ordering: .relaxed)
        )
        let byteCount = log.byteCount
        let revision = store.revision
        let result = Result { () throws(RankingError) in
            try store.castVote(PostID(rawValue: id), direction, voter: voter, sink: log)
        }
        if case .failure(let error) = result, error != expected { throw error }
        guard store.revision == model.revision else {
            throw Difference(description: "vote \(id): revision \(store.revision)")
        }
        if store.revision == revision, log.byteCount != byteCount {
            throw Difference(description: "vote \(id): nothing changed, and was appended")
        }
        if outcome(of: result)?.refreshIsDue == true {
            store.refresh(stripeOf: PostID(rawValue: id))
        }
    }

    private func outcome(of result: Result<VoteOutcome, RankingError>) -> VoteOutcome? {
        try? result.get()
    }

    private mutating func anyID() -> UInt64 {
        let most = max(givenCount, 1)
        return random.oneIn(3)
            ? UInt64.random(in: 1...most + 2, using: &random)
            : UInt64.random(in: 1...min(most, 30), using: &random)
    }
}
