import FeedLog
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Glibc
import Synchronization
import Testing

@Suite struct ChangeLogsTests {
    private static func append(_ log: ChangeLog, revision: UInt64) {
        log.append(.deletion(PostID(rawValue: 1), revision: revision))
    }

    @Test func aBatchTakesWhatWaitsAndNothingTwice() throws {
        let logs = ChangeLogs(count: 2, firstBatch: 5) {}
        var body: [UInt8] = [1, 2, 3]
        #expect(logs.newestBatch == 4)
        #expect(logs.openBatch == 5)
        #expect(logs.takeBatch(into: &body) == nil)
        #expect(body.isEmpty)
        #expect(logs.openBatch == 5, "An empty batch has no number.")

        let byteCount = logs[1].transaction {
            #expect(logs.newestBatch == 4)
            Self.append(logs[1], revision: 8)
            #expect(logs.newestBatch == 5, "It is said before the transaction ends.")
            Self.append(logs[1], revision: 9)
            #expect(logs.waitingByteCount == 0)
            return logs[1].byteCount
        }
        #expect(logs.waitingByteCount == byteCount)

        let first = try #require(logs.takeBatch(into: &body))
        #expect(first.number == 5 && first.entryCount == 2)
        #expect(body.count == byteCount + 4)
        #expect(logs.waitingByteCount == 0)
        #expect(logs.newestBatch == 5 && logs.openBatch == 6)
        #expect(logs.takeBatch(into: &body) == nil)

        logs[0].transaction { Self.append(logs[0], revision: 10) }
        #expect(logs.newestBatch == 6)
        let second = try #require(logs.takeBatch(into: &body))
        #expect(second.number == 6 && second.entryCount == 1)
        #expect(try LogEntryReader.entries(body) == [.deletion(PostID(rawValue: 1), revision: 10)])
    }

    /// As another machine has made the batches 6 to 40.
    @Test func batchesGoOnFromANumber() throws {
        let told = Locked(0)
        let logs = ChangeLogs(count: 2, firstBatch: 5) { told.withLock { $0 += 1 } }
        var body: [UInt8] = []
        logs[0].transaction { Self.append(logs[0], revision: 8) }
        #expect(logs.takeBatch(into: &body)?.number == 5)
        logs.begin(at: 41)
        #expect(logs.openBatch == 41 && logs.newestBatch == 40)
        #expect(logs.takeBatch(into: &body) == nil)
        logs[1].transaction { Self.append(logs[1], revision: 900) }
        #expect(logs.newestBatch == 41 && told.withLock { $0 } == 2)
        #expect(logs.takeBatch(into: &body)?.number == 41)
        #expect(logs.openBatch == 42)
        // The difference to the revision before is that of an empty log.
        #expect(
            try LogEntryReader.entries(body) == [.deletion(PostID(rawValue: 1), revision: 900)]
        )
    }

    @Test func tellsOfABatchsFirstEntryOnceAndAfterTheTransaction() {
        let told = Locked(0)
        let logs = ChangeLogs(count: 3, firstBatch: 1) { told.withLock { $0 += 1 } }
        for batch in 1...3 {
            for log in 0..<3 {
                logs[log].transaction {
                    #expect(told.withLock { $0 } == (log == 0 ? batch - 1 : batch))
                    for _ in 0..<2 { Self.append(logs[log], revision: UInt64(batch)) }
                    #expect(told.withLock { $0 } == (log == 0 ? batch - 1 : batch))
                }
                // A transaction without log entries notifies of nothing.
                logs[log].transaction {}
                #expect(told.withLock { $0 } == batch)
            }
            #expect(logs.nextBody() != nil)
        }
    }

    @Test func noLogTakesAnything() {
        let log = ChangeLog.none
        log.transaction {
            Self.append(log, revision: 1)
            #expect(log.byteCount == 0 && log.isNone)
        }
    }

    /// Threads write transactions of some log entries, each with an outcome, while batches are
    /// taken.
    @Test func noTransactionIsSplitAndBatchesAreInOrder() async throws {
        let logs = ChangeLogs(count: 3, firstBatch: 1) {}
        let revisions = Locked<UInt64>(0)
        let (bodies, faults) = try await logs.batches { loop in
            var faults: [String] = []
            var random = SeededGenerator(seed: UInt64(loop))
            for transaction in 0..<2_000 {
                logs[loop].transaction {
                    for _ in 0..<Int.random(in: 0..<6, using: &random) {
                        let revision = revisions.withLock { revisions in
                            revisions += 1
                            Self.append(logs[loop], revision: revisions)
                            return revisions
                        }
                        logs[loop].append(
                            ChannelOutcome(
                                channel: UInt64(loop),
                                sequence: UInt64(transaction),
                                requestHash: 0,
                                outcome: .id(revision)
                            )
                        )
                        // The taker of a batch waits for this transaction while others run.
                        if random.oneIn(4) { sched_yield() }
                        if logs.newestBatch != logs.openBatch {
                            faults.append("A batch has no entry.")
                        }
                    }
                }
            }
            return faults
        }
        #expect(faults.isEmpty, "\(faults.first ?? "")")
        var last: UInt64 = 0
        var lastTransactions = [-1, -1, -1]
        for body in bodies {
            var transactions: [Int] = [-1, -1, -1]
            for entry in try LogEntryReader.entries(body) {
                switch entry {
                case .deletion(_, let revision):
                    #expect(revision == last + 1)
                    last = revision
                case .outcome(let outcome):
                    #expect(outcome.outcome == .id(last))
                    let loop = Int(outcome.channel)
                    #expect(Int(outcome.sequence) > lastTransactions[loop], "A split transaction.")
                    transactions[loop] = Int(outcome.sequence)
                default:
                    Issue.record("\(entry) was never written.")
                }
            }
            for loop in 0..<3 {
                lastTransactions[loop] = max(lastTransactions[loop], transactions[loop])
            }
        }
        #expect(last == revisions.withLock { $0 })
    }
}

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
        let voter = try store.voter(for: .device(Device16(high: device, low: 7)), sink: log)
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

/// Threads that write, each with its log, while another takes commit batches.
@Suite struct ChangeLogConcurrencyTests {
    private static func write(
        _ store: FeedStore,
        _ log: ChangeLog,
        _ thread: Int,
        _ count: Int
    ) -> [String] {
        var random = SeededGenerator(seed: UInt64(thread))
        var page = PostPage()
        var faults: [String] = []
        for transaction in 0..<count {
            log.transaction {
                if transaction % 16 == 0 { sched_yield() }
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    do {
                        try writeOnce(store, log, &random, &page)
                    } catch RankingError.postNotFound, RankingError.feedExists {
                        continue
                    } catch {
                        faults.append("\(error)")
                    }
                }
                log.append(
                    ChannelOutcome(
                        channel: UInt64(thread),
                        sequence: UInt64(transaction),
                        requestHash: 0,
                        outcome: .id(store.revision)
                    )
                )
            }
        }
        return faults
    }

    private static func writeOnce(
        _ store: FeedStore,
        _ log: ChangeLog,
        _ random: inout SeededGenerator,
        _ page: inout PostPage
    ) throws {
        let id = PostID(rawValue: UInt64.random(in: 1...400, using: &random))
        let feedCount = UInt32(store.feeds().count)
        let feed = FeedID(rawValue: UInt32.random(in: 0..<feedCount, using: &random))
        let content = PostContent(title: "title \(random.next() % 9)", text: "text")
        page.removeAll()
        switch Int.random(in: 0..<60, using: &random) {
        case 0..<3: try store.createPost(content, in: feed, sink: log, into: &page)
        case 3:
            let post = ImportedPost(content: content, createTimeMilliseconds: 5, upvoteCount: 3)
            try store.importPosts([post, post], in: feed, sink: log)
        case 4, 5: try store.updatePost(id, PostChanges(title: "new"), sink: log, into: &page)
        case 6: try store.deletePost(id, sink: log)
        case 7:
            let name = "feed \(random.next() % 12)"
            let policy = FeedPolicy(name: name, voteMode: random.oneIn(2) ? .ballot : .tally)
            _ = try store.createFeed(policy, sink: log)
        default:
            let device = UInt64.random(in: 0..<40, using: &random)
            let voter = try store.voter(for: .device(Device16(high: device, low: 7)), sink: log)
            let outcome = try store.castVote(
                id,
                random.oneIn(3) ? .down : .up,
                voter: voter,
                sink: log
            )
            if outcome.refreshIsDue { store.refresh(stripeOf: id) }
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...3))
    func theBatchesOfThreadsAreTheStore(seed: UInt64) async throws {
        let store = FeedStore(stripeCount: 4) { 1_700_000_000_000 }
        let told = Locked(0)
        let logs = ChangeLogs(count: 3, firstBatch: 1) { told.withLock { $0 += 1 } }
        let count = TestEnvironment.modelOperations(3_000)
        let (bodies, faults) = try await logs.batches { loop in
            Self.write(store, logs[loop], loop + Int(seed) * 3, count)
        }
        #expect(faults.isEmpty, "\(faults.first ?? "")")
        #expect(told.withLock { $0 } == bodies.count)

        // The revisions rise through all commit batches without a gap: each write is in one of
        // them, once.
        var last: UInt64 = 0
        for body in bodies {
            for entry in try LogEntryReader.entries(body) {
                if let revision = entry.revision {
                    #expect(revision == last + 1)
                    last = revision
                }
                if case .outcome(let outcome) = entry, case .id(let revision) = outcome.outcome {
                    #expect(revision >= last)
                }
            }
        }
        #expect(last == store.revision)
        let replayed = try FeedStore.replaying(bodies, stripeCount: 16)
        #expect(replayed.stateHash() == store.stateHash())
        #expect(replayed.sortedPosts() == store.sortedPosts())
        #expect(try replayed.walks() == store.walks())
        #expect(replayed.feeds() == store.feeds())
        let posts = store.sortedPosts()
        for number in 0..<UInt32(40) {
            let voter = VoterID(rawValue: number)
            let ballots = try store.ballots(of: voter, on: posts)
            #expect(try replayed.ballots(of: voter, on: posts) == ballots)
        }
        replayed.checkInvariants()
        // Both continue with the same next id, revision, voter and feed.
        for store in [store, replayed] {
            var page = PostPage()
            let outcome = try store.createPost(PostContent(), in: FeedID(rawValue: 0), into: &page)
            #expect(outcome.revision == last + 1)
        }
        #expect(
            try replayed.voter(for: .device(Device16(high: 99, low: 9)))
                == store.voter(for: .device(Device16(high: 99, low: 9)))
        )
        #expect(replayed.sortedPosts().last?.counts.id == store.sortedPosts().last?.counts.id)
        let policy = FeedPolicy(name: "one more")
        #expect(try replayed.createFeed(policy) == store.createFeed(policy))
    }
}
