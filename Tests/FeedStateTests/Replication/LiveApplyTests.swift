import FeedAccounts
import FeedConcurrency
import FeedJournal
import FeedLog
import FeedOrders
import FeedRanking
import FeedState
import FeedTestSupport
import Synchronization
import Testing

/// A follower applies a leader's records while others read: each sees the leader's states.
@Suite(.timeLimit(.minutes(10))) struct LiveApplyTests {
    /// A follower whose readers know which record it is at.
    private final class Follower: Sendable {
        let leader: LeaderView
        let store: FeedStore
        let accounts = Accounts()
        let clock: ManualClock
        /// Twice the records that are applied, and one more while one is.
        let progress = Atomic(0)
        let isDone = Atomic(false)
        let faults = Locked<[String]>([])
        /// Signalled for each reader once it may begin.
        let begins = Semaphore()
        /// How often each reader has looked.
        private let lookCounts: Locked<[Int]>
        private let isAwaited = Atomic(false)
        private let looked = Semaphore()

        init(_ leader: LeaderView, readerCount: Int, stripeCount: Int, smallSteps: Bool) {
            lookCounts = Locked([Int](repeating: 0, count: readerCount))
            self.leader = leader
            // Another machine's clock.
            let clock = ManualClock(leader.endTime + 60_000)
            self.clock = clock
            var pace = RefreshPace()
            if smallSteps {
                pace.minimumStaleCount = 50
                pace.wholePostCount = 0
                pace.stepKeyCount = 20
                pace.headPostCount = 1
            }
            store = FeedStore(stripeCount: stripeCount, pace: pace) { clock.now }
        }

        /// The record that the store is at; nil while one is applied.
        func wholeRecord(_ progress: Int) -> Int? { progress % 2 == 0 ? progress / 2 : nil }

        func fault(_ text: String) { faults.withLock { if $0.count < 10 { $0.append(text) } } }

        /// Counts a look of a reader.
        func countLook(_ reader: Int, _ count: Int = 1) {
            lookCounts.withLock { $0[reader] += count }
            if isAwaited.exchange(false, ordering: .sequentiallyConsistent) { looked.signal() }
        }

        /// Waits until each reader has looked twice more.
        func awaitLooks() {
            let wanted = lookCounts.withLock { $0.map { $0 + 2 } }
            func areDone() -> Bool {
                lookCounts.withLock { zip($0, wanted).allSatisfy { $0 >= $1 } }
            }
            while !areDone() {
                isAwaited.store(true, ordering: .sequentiallyConsistent)
                if !areDone() { looked.wait() }
            }
        }
    }

    /// A reader looks again and again until it has reason to return, and calls the last one for each look.
    private typealias Reader = @Sendable (Follower, UInt64, () -> Void) throws -> Void

    /// What readers compare with.
    private struct LeaderView: Sendable {
        let records: [LeaderRun.Record]
        let versions: [UInt64: [UInt64: PostCounts]]
        let created: [UInt64: Int]
        let endTime: Int64

        func revision(_ record: Int) -> UInt64 { record == 0 ? 0 : records[record - 1].revision }

        /// The newest version of a post as of a revision.
        func newest(_ id: PostID, upTo revision: UInt64) -> UInt64 {
            versions[id.rawValue]?.keys.filter { $0 <= revision }.max() ?? 0
        }
    }

    @Test(arguments: TestEnvironment.seeds(1...4))
    func readersSeeTheLeadersStates(seed: UInt64) async throws {
        let comment: Comment = "seed \(seed)"
        let run = try LeaderRun(seed: seed, records: TestEnvironment.modelOperations(60))
        let leader = LeaderView(
            records: run.records,
            versions: run.versions,
            created: run.created,
            endTime: run.clock.now
        )
        let readers: [Reader] = [
            Self.list, Self.list, Self.keepPages, Self.sync, Self.watch, Self.askForNewerPosts,
        ]
        let follower = Follower(
            leader,
            readerCount: readers.count,
            stripeCount: 1 << (seed % 4),
            smallSteps: seed % 2 == 0
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, reader) in readers.enumerated() {
                group.addTask {
                    try await offload {
                        // One that has failed is not waited for.
                        defer { follower.countLook(number, .max / 2) }
                        follower.begins.wait()
                        var lookCount = 0
                        repeat {
                            try reader(follower, seed &* 31 &+ UInt64(number + lookCount)) {
                                lookCount += 1
                                follower.countLook(number)
                            }
                        } while !follower.isDone.load(ordering: .acquiring)
                    }
                }
            }
            group.addTask {
                try await offload {
                    defer {
                        follower.isDone.store(true, ordering: .releasing)
                        for _ in readers { follower.begins.signal() }
                    }
                    try Self.apply(to: follower, seed, readerCount: readers.count)
                }
            }
            try await group.waitForAll()
        }
        let faults = follower.faults.withLock { $0 }
        #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "\n"))")
        // Readers have held some clocks of the follower at its time.
        run.clock.set(follower.clock.now)
        try Self.expectSame(follower.store, run.store, comment)
        follower.store.checkInvariants()
        #expect(follower.accounts.state().stateHash == run.accounts.state().stateHash, comment)
        try Self.expectToLead(follower.store, run.store, comment)
    }

    /// Applies all records, and lets each reader look now and then at a state that stands.
    private static func apply(
        to follower: Follower,
        _ seed: UInt64,
        readerCount: Int
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var chain = RecordChain(after: .start)
        var live = LiveApply(
            store: follower.store,
            accounts: follower.accounts,
            after: chain,
            channels: { _ in }
        )
        for (place, record) in follower.leader.records.enumerated() {
            follower.progress.store(2 * place + 1, ordering: .sequentiallyConsistent)
            try live.apply(record.body.span, at: record.position, &chain)
            if follower.store.stateHash() != record.storeHash {
                follower.fault("record \(place + 1): another state")
            }
            if follower.accounts.state().stateHash != record.accountsHash {
                follower.fault("record \(place + 1): other accounts")
            }
            if follower.store.revision != record.revision {
                follower.fault("record \(place + 1): revision \(follower.store.revision)")
            }
            follower.progress.store(2 * place + 2, ordering: .sequentiallyConsistent)
            // The first record is there before the first reader, as a start's are.
            if place == 0 { for _ in 0..<readerCount { follower.begins.signal() } }
            if generator.oneIn(3) { follower.awaitLooks() }
        }
        live.end()
    }

    // Readers: each does some calls, and checks what it sees.

    private static func list(_ follower: Follower, _ seed: UInt64, _ look: () -> Void) throws {
        var generator = SeededGenerator(seed: seed)
        let number = Int.random(in: 0..<SeenPost.queries.count, using: &generator)
        let before = follower.progress.load(ordering: .sequentiallyConsistent)
        let revision = follower.store.revision
        let posts = try follower.store.seen(SeenPost.queries[number])
        check(posts, ofQuery: number, revision, since: before, follower)
        look()
    }

    /// Reads pages, and serves each again as long as a loop would, over some records.
    private static func keepPages(
        _ follower: Follower,
        _ seed: UInt64,
        _ look: () -> Void
    ) throws {
        var kept: [(number: Int, posts: [SeenPost], life: PageLife)] = []
        for (number, query) in SeenPost.queries.enumerated() where query.voter == nil {
            let moment = follower.store.moment(of: query)
            let page = try follower.store.read(query)
            kept.append((number, page.seen, PageLife(of: page, readAt: moment)))
        }
        let end = follower.progress.load(ordering: .acquiring) + 6
        repeat {
            for page in kept {
                let before = follower.progress.load(ordering: .sequentiallyConsistent)
                let revision = follower.store.revision
                let moment = follower.store.moment(of: SeenPost.queries[page.number])
                guard page.life.has(moment) else { continue }
                check(page.posts, ofQuery: page.number, revision, since: before, follower)
            }
            look()
        } while follower.progress.load(ordering: .acquiring) < end
            && !follower.isDone.load(ordering: .acquiring)
    }

    /// Checks a page of a call that began at a time.
    private static func check(
        _ posts: [SeenPost],
        ofQuery number: Int,
        _ revision: UInt64,
        since before: Int,
        _ follower: Follower
    ) {
        let after = follower.progress.load(ordering: .sequentiallyConsistent)
        let leader = follower.leader
        let query = SeenPost.queries[number]
        let name = "query \(number), \(query.order), \(before) to \(after)"
        checkRevision(revision, from: before, to: after, follower)
        if before == after, let record = follower.wholeRecord(before) {
            let expected = record == 0 ? [] : leader.records[record - 1].lists[number]
            if posts != expected { follower.fault("\(name): \(posts) and not \(expected)") }
            return
        }
        for post in posts {
            let version = leader.versions[post.id.rawValue]?[post.revision]
            guard let version, version.upvoteCount == post.upvoteCount,
                version.downvoteCount == post.downvoteCount
            else {
                follower.fault("\(name): no version is \(post)")
                continue
            }
            if post.revision < leader.newest(post.id, upTo: revision) {
                follower.fault("\(name): \(post) is older than \(revision)")
            }
        }
    }

    private static func checkRevision(
        _ revision: UInt64,
        from before: Int,
        to after: Int,
        _ follower: Follower
    ) {
        let leader = follower.leader
        let isOfRecord = (before / 2...(after + 1) / 2).contains { leader.revision($0) == revision }
        if !isOfRecord {
            follower.fault("revision \(revision) is of no record \(before)...\(after)")
        }
    }

    /// Keeps a copy of all posts by syncs, to the end of the log, and compares it.
    private static func sync(_ follower: Follower, _ seed: UInt64, _ look: () -> Void) throws {
        var query = SyncQuery(size: Int(seed % 40) + 10)
        var copy: [PostID: SeenPost] = [:]
        var page = PostPage()
        var resetCount = 0
        while true {
            let isLast = follower.isDone.load(ordering: .acquiring)
            var allowance = RefreshAllowance()
            page.removeAll()
            guard
                case .done(let read) = follower.store.sync(
                    query,
                    into: &page,
                    allowance: &allowance
                )
            else { continue }
            if read.isReset {
                copy = [:]
                resetCount += 1
            } else if read.position.revision < query.position.revision {
                follower.fault("a sync goes back")
            }
            if read.position.revision > follower.store.revision {
                follower.fault("a sync is at \(read.position.revision), above what is shown")
            }
            for (row, post) in zip(page.rows, page.seen) {
                copy[row.id] = row.isDeleted ? nil : post
            }
            query.position = read.position
            if isLast, !read.hasMore { break }
            look()
        }
        var expected: [PostID: (UInt64, UInt64)] = [:]
        follower.store.forEachPost { post in
            expected[post.counts.id] = (post.counts.revision, post.counts.upvoteCount)
        }
        let isSame =
            copy.count == expected.count
            && copy.allSatisfy { id, post in
                expected[id].map { $0 == (post.revision, post.upvoteCount) } ?? false
            }
        if !isSame { follower.fault("a copy by syncs is another: \(copy.count) posts") }
        if resetCount > 1 { follower.fault("\(resetCount) copies were begun") }
    }

    /// Reads the first posts, as the loop of a watch does.
    private static func watch(_ follower: Follower, _ seed: UInt64, _ look: () -> Void) throws {
        var first = FirstPosts()
        for _ in 0..<20 {
            look()
            let before = follower.progress.load(ordering: .sequentiallyConsistent)
            // Nothing has changed since, for a watch.
            if first.revision != follower.store.revision {
                first = try follower.store.firstPosts()
            }
            let after = follower.progress.load(ordering: .sequentiallyConsistent)
            checkRevision(first.revision, from: before, to: after, follower)
            guard before == after, let record = follower.wholeRecord(before), record > 0 else {
                continue
            }
            let expected = follower.leader.records[record - 1]
            let front = SeenPost.queries.firstIndex { $0.feed == nil && $0.order == .hot } ?? 0
            let isSame =
                first.posts.map(\.id) == expected.lists[front].map(\.id)
                && first.posts.map(\.revision) == expected.lists[front].map(\.revision)
                && first.createdCount == expected.createdCount
            if !isSame { follower.fault("record \(record): a watch sees \(first.posts)") }
            let unreadCount = follower.store.unreadCount()
            if follower.progress.load(ordering: .sequentiallyConsistent) == after,
                unreadCount != expected.unreadCount
            {
                follower.fault("record \(record): \(unreadCount) unread posts")
            }
        }
    }

    /// Asks for newer posts again and again, to the end of the log: none is missed.
    private static func askForNewerPosts(
        _ follower: Follower,
        _ seed: UInt64,
        _ look: () -> Void
    ) throws {
        let began = follower.progress.load(ordering: .sequentiallyConsistent) / 2 + 1
        let first = try follower.store.read(PageQuery(feed: nil, order: .new, size: 5))
        var place = first.refreshPlace
        var seen: Set<UInt64> = []
        while let position = place {
            let isLast = follower.isDone.load(ordering: .acquiring)
            let cursor = PageCursor(
                feed: nil,
                order: .new,
                direction: .newer,
                position: position,
                rank: 0
            )
            let page = try follower.store.read(
                PageQuery(feed: nil, order: .new, size: 100, start: .cursor(cursor))
            )
            for row in page.rows { seen.insert(row.id.rawValue) }
            place = page.refreshPlace
            look()
            if isLast, page.newerCount == 0 { break }
        }
        var missed: [UInt64] = []
        follower.store.forEachPost { post in
            let id = post.counts.id.rawValue
            guard let record = follower.leader.created[id], record > began else { return }
            if !seen.contains(id) { missed.append(id) }
        }
        if !missed.isEmpty { follower.fault("newer pages have missed \(missed)") }
    }

    // The end.

    /// Expects all lists, feeds and changes of two stores to be equal.
    private static func expectSame(
        _ store: FeedStore,
        _ other: FeedStore,
        _ comment: Comment
    ) throws {
        #expect(store.stateHash() == other.stateHash(), comment)
        #expect(store.feeds() == other.feeds(), comment)
        #expect(store.revision == other.revision && store.postCount == other.postCount, comment)
        #expect(store.postByteCount == other.postByteCount, comment)
        #expect(store.highestID == other.highestID, comment)
        #expect(store.markUnitCount == other.markUnitCount, comment)
        for feed in [nil, FeedID(rawValue: 0), FeedID(rawValue: 2)] {
            for order in Order.allCases {
                for window in order.allowsWindow ? [nil, .hour, .day] : [Window?.none] {
                    let query = PageQuery(feed: feed, order: order, window: window, size: 50)
                    let walked = try walk(store, query)
                    #expect(walked == (try walk(other, query)), "\(comment) \(query)")
                }
            }
        }
        #expect(try changes(store) == changes(other), comment)
    }

    private static func walk(_ store: FeedStore, _ query: PageQuery) throws -> [SeenPost] {
        var query = query
        var posts: [SeenPost] = []
        while true {
            let page = try store.read(query)
            posts += page.seen
            guard let next = page.next else { return posts }
            query.start = .cursor(next)
        }
    }

    /// All posts and deletions, in the order of their revisions.
    private static func changes(_ store: FeedStore) throws -> [UInt64] {
        var query = SyncQuery(position: SyncPosition(revision: 1, copyRevision: 0), size: 100)
        var found: [UInt64] = []
        while true {
            var page = PostPage()
            var allowance = RefreshAllowance(keyCount: .max)
            guard case .done(let read) = store.sync(query, into: &page, allowance: &allowance)
            else {
                continue
            }
            #expect(!read.isReset)
            for row in page.rows {
                found += [row.id.rawValue, row.revision, row.isDeleted ? 1 : 0]
            }
            query.position = read.position
            guard read.hasMore else { return found }
        }
    }

    /// Expects a store that has followed to take changes as the leader would.
    private static func expectToLead(
        _ store: FeedStore,
        _ other: FeedStore,
        _ comment: Comment
    ) throws {
        for store in [store, other] {
            var page = PostPage()
            let post = PostContent(title: "after")
            try store.createPost(post, in: FeedID(rawValue: 0), into: &page)
            let voter = try store.voter(for: LeaderRun.device)
            _ = try store.castVote(page.rows[0].id, .up, voter: voter)
            try store.mark([page.rows[0].id], as: .dismissed, by: voter)
            try store.mark(through: page.rows[0].id, in: nil, as: .read, by: voter)
        }
        #expect(store.revision == other.revision, comment)
        #expect(store.stateHash() == other.stateHash(), comment)
        #expect(try store.seen(SeenPost.queries[0]) == other.seen(SeenPost.queries[0]), comment)
    }
}
