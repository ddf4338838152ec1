import FeedLog
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Glibc
import Testing

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
            let voter = try store.voter(forDevice: (device, 7), sink: log)
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
        #expect(try replayed.voter(forDevice: (99, 9)) == store.voter(forDevice: (99, 9)))
        #expect(replayed.sortedPosts().last?.counts.id == store.sortedPosts().last?.counts.id)
        let policy = FeedPolicy(name: "one more")
        #expect(try replayed.createFeed(policy) == store.createFeed(policy))
    }
}
