import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization
import Testing

@Suite struct SyncTests {
    private let clock: TestClock
    private let store: FeedStore

    init() {
        let clock = TestClock()
        self.clock = clock
        store = FeedStore(stripeCount: 2) { clock.milliseconds.load(ordering: .relaxed) }
    }

    private func create(_ count: Int, in feed: UInt32 = 0) throws -> [PostID] {
        let posts = (0..<count).map {
            ImportedPost(content: PostContent(title: "title \($0)"), createTimeMilliseconds: 0)
        }
        let first = try store.importPosts(posts, in: FeedID(rawValue: feed)).firstID.rawValue
        return (0..<UInt64(count)).map { PostID(rawValue: first + $0) }
    }

    /// A page of changes, and its rows.
    private func read(
        from position: SyncPosition,
        feed: FeedID? = nil,
        size: Int = 500,
        byteLimit: Int = .max
    ) throws -> (SyncPage, [PostRow]) {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        let query = SyncQuery(feed: feed, position: position, size: size, byteLimit: byteLimit)
        guard case .done(let read) = store.sync(query, into: &page, allowance: &allowance) else {
            throw Difference(description: "No page.")
        }
        return (read, page.rows)
    }

    @Test(arguments: TestEnvironment.seeds(1...24))
    func copiesAreTheStore(seed: UInt64) throws {
        var run = try SyncRun(seed: seed)
        try run.run(3_000)
        #expect(run.readers.allSatisfy { $0.resetCount > 0 })
    }

    @Test func theModelFindsACopyThatIsKept() throws {
        #expect(throws: (any Error).self) {
            for seed in 1...8 as ClosedRange<UInt64> {
                var run = try SyncRun(seed: seed)
                run.keepsCopies = true
                try run.run(3_000)
            }
        }
    }

    @Test func theModelFindsMarksThatAreNotApplied() throws {
        #expect(throws: (any Error).self) {
            for seed in 1...8 as ClosedRange<UInt64> {
                var run = try SyncRun(seed: seed)
                run.ignoresMarks = true
                try run.run(3_000)
            }
        }
    }

    @Test func aPostThatIsVotedOnOftenComesOnce() throws {
        let ids = try create(10)
        let (first, rows) = try read(from: .start)
        #expect(first.isReset && !first.hasMore && first.position.copyRevision == 0)
        #expect(rows.map(\.id) == ids)
        for _ in 0..<100 { _ = try store.castVote(ids[3], .up) }
        let (second, changed) = try read(from: first.position)
        #expect(changed.map(\.id) == [ids[3]])
        #expect(changed[0].score == 100)
        #expect(!second.isReset && !second.hasMore)
        let (third, none) = try read(from: second.position)
        #expect(none.isEmpty && third.position == second.position)
    }

    @Test func deletionsAreKeptForADay() throws {
        let ids = try create(4)
        let (copied, _) = try read(from: .start)
        _ = try store.deletePost(ids[1])
        let day = RankingLimits.tombstoneLifetime
        clock.milliseconds.wrappingAdd(day, ordering: .relaxed)
        let (page, rows) = try read(from: copied.position)
        #expect(!page.isReset)
        #expect(rows.map(\.id) == [ids[1]])
        #expect(rows[0].isDeleted)
        clock.milliseconds.wrappingAdd(1, ordering: .relaxed)
        let (late, copy) = try read(from: copied.position)
        #expect(late.isReset)
        #expect(copy.map(\.id) == [ids[0], ids[2], ids[3]])
        // Who has learned of the deletion has missed nothing.
        #expect(try !read(from: page.position).0.isReset)
    }

    /// A first copy takes many pages, which begin long before the oldest deletion that is kept.
    @Test func aCopyThatIsUnderWayIsNotBegunAnew() throws {
        let ids = try create(100)
        for id in ids.prefix(10) { _ = try store.deletePost(id) }
        clock.milliseconds.wrappingAdd(RankingLimits.tombstoneLifetime + 1, ordering: .relaxed)
        var (page, rows) = try read(from: .start, size: 7)
        var copy = Set(rows.map(\.id))
        _ = try store.deletePost(ids[10])
        _ = try store.deletePost(ids[99])
        while page.hasMore {
            #expect(page.position.copyRevision > 0)
            (page, rows) = try read(from: page.position, size: 7)
            #expect(!page.isReset)
            for row in rows where !row.isDeleted { copy.insert(row.id) }
            for row in rows where row.isDeleted { copy.remove(row.id) }
        }
        #expect(page.position.copyRevision == 0)
        #expect(copy == Set(ids[11..<99]))
    }

    @Test func anotherStateIsReset() throws {
        _ = try create(3)
        let ahead = SyncPosition(revision: store.revision + 1, copyRevision: 0)
        #expect(try read(from: ahead).0.isReset)
        let copying = SyncPosition(revision: 1, copyRevision: store.revision + 1)
        #expect(try read(from: copying).0.isReset)
    }

    @Test func aPageEndsBeforeItIsTooLong() throws {
        let ids = try create(20)
        let (page, rows) = try read(from: .start, byteLimit: 30)
        #expect(page.hasMore && rows.map(\.id) == Array(ids[..<4]))
        let (next, one) = try read(from: page.position, byteLimit: 1)
        #expect(next.hasMore && one.map(\.id) == [ids[4]])
    }

    /// A call looks at a bounded number of posts of other feeds.
    @Test func aSmallFeedIsFoundInParts() throws {
        _ = try create(20_000)
        let ids = try create(3, in: 1)
        var pages = 0
        var found: [PostID] = []
        var position = SyncPosition.start
        var hasMore = true
        while hasMore {
            let (page, rows) = try read(from: position, feed: FeedID(rawValue: 1), size: 10)
            found += rows.map(\.id)
            (position, hasMore) = (page.position, page.hasMore)
            pages += 1
        }
        #expect(found == ids)
        #expect(pages > 20_000 / (RankingLimits.maximumScanCount + 1))
    }
}

/// The marks of a viewer, for readers that have the posts.
@Suite struct MarkSyncTests {
    private static let viewer = VoterKey.device(Device16(high: 1, low: 2))
    private static let feed = FeedID(rawValue: 0)

    private let changes = RecordedChanges()
    private let store = FeedStore(stripeCount: 2) { 0 }
    private let ids: [PostID]
    private let voter: VoterID

    init() throws {
        let posts = (0..<1_000).map { time in
            ImportedPost(content: PostContent(), createTimeMilliseconds: Int64(time))
        }
        let first = try store.importPosts(posts, in: Self.feed, sink: changes).firstID.rawValue
        ids = (0..<1_000).map { PostID(rawValue: first + $0) }
        voter = try store.voter(for: Self.viewer, sink: changes)
    }

    private func mark(_ places: some Sequence<Int>, _ mark: Mark) throws {
        try store.mark(places.map { ids[$0] }, as: mark, by: voter, sink: changes)
    }

    /// The page of a reader that has all posts, and the marks behind a place.
    private func read(
        _ position: SyncPosition,
        feed: FeedID? = nil,
        size: Int = 500,
        _ store: FeedStore? = nil
    ) throws -> MarkPage {
        let store = store ?? self.store
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        let posts = SyncPosition(revision: store.revision, copyRevision: 0)
        let query = SyncQuery(
            feed: feed,
            position: posts,
            size: size,
            viewer: Self.viewer,
            marks: position
        )
        guard case .done(let read) = store.sync(query, into: &page, allowance: &allowance),
            let marks = read.marks
        else { throw Difference(description: "No page.") }
        #expect(page.rows.isEmpty && !read.isReset && !read.hasMore)
        return marks
    }

    private func post(_ place: Int, isRead: Bool) -> MarkChange {
        .post(ids[place], ViewerState(isRead: isRead))
    }

    @Test func aNewReaderGetsAllMarksInParts() throws {
        try mark(0..<10, .read)
        try store.mark(through: ids[5], in: nil, as: .dismissed, by: voter)
        var page = try read(.start, size: 4)
        #expect(page.isReset && page.hasMore && page.changes.count == 4)
        var found = page.changes
        while page.hasMore {
            page = try read(page.position, size: 4)
            #expect(!page.isReset)
            found += page.changes
        }
        #expect(found.count == 11)
        #expect(page.position == SyncPosition(revision: store.revision, copyRevision: 0))
        #expect(try read(page.position) == page.position.upToDate)
    }

    @Test func aMarkThatIsTakenBackIsLearned() throws {
        try mark([1, 2, 3], .read)
        let before = SyncPosition(revision: store.revision, copyRevision: 0)
        try mark([2], .unread)
        var page = try read(before)
        #expect(!page.isReset)
        #expect(page.changes == [post(2, isRead: false)])
        // Marked again it comes once.
        try mark([2], .read)
        page = try read(before)
        #expect(page.changes == [post(2, isRead: true)])
    }

    /// A sweep forgets marks that newer ones have ended, and a copy may have older ones there.
    @Test func whatWasTakenBackBeforeASweepIsLearned() throws {
        let follower = FeedStore(stripeCount: 2) { 0 }
        try mark([1, 2], .read)
        try mark([1, 2], .dismissed)
        try changes.restore(to: follower)
        follower.beginFollowing(at: 0)
        let before = SyncPosition(revision: store.revision, copyRevision: 0)
        try mark([1, 2], .restored)
        try store.mark(through: ids[7], in: Self.feed, as: .read, by: voter, sink: changes)
        try store.deletePost(ids[2], sink: changes)
        var sweep = MarkSweep()
        for _ in 0..<130 { store.sweepMarks(&sweep, sink: changes) }
        #expect(store.markUnitCount == RankingLimits.viewerUnitCount + 2)
        let page = try read(before)
        #expect(!page.isReset && page.changes.count == 2)
        #expect(page.changes.last == post(1, isRead: true))
        try changes.restore(to: follower)
        follower.showRecord(at: 0)
        #expect(follower.markUnitCount == store.markUnitCount)
        #expect(try read(before, follower).changes == page.changes)
    }

    @Test func whoMissesTooManyThatWereTakenBackBeginsAnew() throws {
        try mark(0..<100, .read)
        let before = SyncPosition(revision: store.revision, copyRevision: 0)
        try mark(0..<RankingLimits.maximumLiftedMarkCount, .unread)
        #expect(try !read(before).isReset)
        let unit = store.markUnitCount
        try mark([99], .unread)
        // What was taken back is counted, and bounded.
        #expect(store.markUnitCount == unit - 1)
        let page = try read(before)
        #expect(page.isReset)
        #expect(page.changes.count == 99 - RankingLimits.maximumLiftedMarkCount)
    }

    @Test func aNewRunKnowsTheMarksThatStand() throws {
        try mark([1, 2], .read)
        let before = SyncPosition(revision: store.revision, copyRevision: 0)
        try mark([1], .unread)
        let later = FeedStore(stripeCount: 2) { 0 }
        try changes.restore(to: later)
        let page = try read(before, later)
        #expect(page.isReset)
        #expect(page.changes.contains(post(2, isRead: true)))
        let end = SyncPosition(revision: later.revision, copyRevision: 0)
        #expect(page.position == end && !page.hasMore)
        #expect(try read(end, later) == end.upToDate)
    }

    @Test func aFollowerTellsWhatItsLeaderDoes() throws {
        let follower = FeedStore(stripeCount: 2) { 0 }
        try mark([1, 2], .read)
        try changes.restore(to: follower)
        follower.beginFollowing(at: 0)
        let before = SyncPosition(revision: follower.revision, copyRevision: 0)
        try mark([1], .unread)
        try store.mark(through: ids[7], in: Self.feed, as: .dismissed, by: voter, sink: changes)
        try changes.restore(to: follower)
        follower.showRecord(at: 0)
        let page = try read(before, follower)
        #expect(!page.isReset && page.changes.count == 2)
        #expect(page.changes.first == .post(ids[1], ViewerState(isRead: false, isDismissed: true)))
    }

    @Test func marksOfOtherFeedsAreLeftOut() throws {
        try mark([1], .read)
        try store.mark(through: ids[7], in: Self.feed, as: .dismissed, by: voter)
        let page = try read(.start, feed: FeedID(rawValue: 1))
        #expect(page.changes.isEmpty)
        try store.mark(through: ids[7], in: nil, as: .restored, by: voter)
        #expect(try read(page.position, feed: FeedID(rawValue: 1)).changes.count == 1)
    }
}

extension SyncPosition {
    /// The page of a reader for whom nothing has changed.
    fileprivate var upToDate: MarkPage { MarkPage(position: self) }
}

/// Random changes of a store beside readers that keep copies, and restarts.
///
/// A reader reads a page at any moment. When it has read all, its copy is the store's posts.
struct SyncRun {
    /// A copy of the posts of a feed, and how far it has come.
    struct Reader {
        let feed: FeedID?
        /// Whose marks the copy shows.
        let viewer: VoterKey?
        var position = SyncPosition.start
        var marks = SyncPosition.start
        var copy: [PostID: PostRow] = [:]
        /// Whether something has happened after which a page may begin a new copy.
        var mayReset = true
        var resetCount = 0
    }

    private static let feeds = (0..<3).map { FeedID(rawValue: $0) }

    private var random: SeededGenerator
    private let clock = TestClock()
    private let stripeCount: Int
    private let keyCount: Int
    private var store: FeedStore
    private var changes = RecordedChanges()
    private var ids: [PostID] = []
    private(set) var readers: [Reader]
    private var page = PostPage()
    /// A fault on purpose: a reader that is told to forget its copy keeps it.
    var keepsCopies = false
    /// The same: a reader does not apply the changes of marks.
    var ignoresMarks = false

    private static let viewers: [VoterKey] = [.device(Device16(high: 1, low: 2)), .user(7)]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        stripeCount = [1, 2, 16].randomElement(using: &random) ?? 1
        keyCount = [1, 100, 1_000_000].randomElement(using: &random) ?? 1
        store = Self.store(stripeCount, clock)
        readers = zip([nil, Self.feeds[0], Self.feeds[2], nil], [0, 0, 1, 2]).map {
            Reader(feed: $0, viewer: $1 < Self.viewers.count ? Self.viewers[$1] : nil)
        }
        _ = try store.createFeed(FeedPolicy(name: "ballots", voteMode: .ballot), sink: changes)
    }

    /// Does so many random things; compares all copies now and then, and at the end.
    mutating func run(_ count: Int) throws {
        for step in 0..<count {
            clock.milliseconds.wrappingAdd(
                Int64.random(in: 0..<100, using: &random),
                ordering: .relaxed
            )
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<8: try create()
            case 8..<12: try delete()
            case 12..<16: try update()
            case 16..<30: try read(readers.indices.randomElement(using: &random) ?? 0)
            case 30 where random.oneIn(8): pause()
            case 31 where random.oneIn(8): try restart()
            case 32..<40: voteForSome()
            case 40..<52: try mark()
            default: try vote()
            }
            if random.oneIn(200) || step == count - 1 { try compare() }
        }
    }

    private static func store(_ stripeCount: Int, _ clock: TestClock) -> FeedStore {
        FeedStore(stripeCount: stripeCount) { clock.milliseconds.load(ordering: .relaxed) }
    }

    private mutating func create() throws {
        let feed = Self.feeds.randomElement(using: &random) ?? Self.feeds[0]
        let count = random.oneIn(20) ? 300 : 3
        let posts = (0..<count).map {
            ImportedPost(content: PostContent(title: "\($0)"), createTimeMilliseconds: Int64($0))
        }
        let first = try store.importPosts(posts, in: feed, sink: changes).firstID.rawValue
        ids += (0..<UInt64(count)).map { PostID(rawValue: first + $0) }
    }

    private mutating func delete() throws {
        guard let index = ids.indices.randomElement(using: &random) else { return }
        _ = try store.deletePost(ids.remove(at: index), sink: changes)
    }

    private mutating func update() throws {
        guard let id = ids.randomElement(using: &random) else { return }
        var change = PostChanges()
        if random.oneIn(2) { change.title = "\(random.next() % 1_000)" }
        page.removeAll()
        _ = try store.updatePost(id, change, sink: changes, into: &page)
    }

    private mutating func vote() throws {
        guard let id = ids.randomElement(using: &random) else { return }
        let direction: VoteDirection = random.oneIn(3) ? .down : .up
        let voter = VoterID(rawValue: UInt32.random(in: 0..<4, using: &random))
        _ = try store.castVote(id, direction, voter: voter, sink: changes)
    }

    /// Marks single posts, or all up to one.
    private mutating func mark() throws {
        guard let viewer = Self.viewers.randomElement(using: &random), let id = ids.last else {
            return
        }
        let voter = try store.voter(for: viewer, sink: changes)
        let mark = Mark.allCases.randomElement(using: &random) ?? .read
        guard random.oneIn(8) else {
            let marked = (0..<3).map { _ in ids.randomElement(using: &random) ?? id }
            return try store.mark(marked, as: mark, by: voter, sink: changes)
        }
        let last = ids.randomElement(using: &random) ?? id
        let feed = random.oneIn(2) ? try store.feed(of: last) : nil
        do throws(RankingError) {
            try store.mark(through: last, in: feed, as: mark, by: voter, sink: changes)
        } catch {
            guard case .tooManyMarks = error else { throw error }
        }
        if random.oneIn(4) {
            var sweep = MarkSweep()
            for _ in 0..<200 { store.sweepMarks(&sweep, sink: changes) }
        }
    }

    private mutating func voteForSome() {
        var votes = BatchedVotes()
        votes.count = min(ids.count, 8)
        for item in 0..<votes.count {
            votes.entries[item].post = ids.randomElement(using: &random) ?? ids[0]
            votes.entries[item].direction = .up
        }
        store.castVotes(&votes, voter: VoterID(rawValue: 1), sink: changes)
    }

    /// Lets time pass: the orders of changes are given up, and at times deletions are forgotten.
    private mutating func pause() {
        let isLong = random.oneIn(4)
        let time = isLong ? RankingLimits.tombstoneLifetime : RankingLimits.syncIdleTime
        clock.milliseconds.wrappingAdd(time + 1, ordering: .relaxed)
        if random.oneIn(2) { store.expireSync() }
        if isLong { for index in readers.indices { readers[index].mayReset = true } }
    }

    /// Begins another run with the state of this one, and greater revisions, as a start does.
    private mutating func restart() throws {
        let revision = store.revision + 1 << 24
        let lastID = store.highestID
        store = Self.store(stripeCount, clock)
        let knowsDeletions = random.oneIn(2)
        if knowsDeletions { store.restore(deletionsKnownSince: 0) }
        try changes.restore(to: store)
        try store.restore(lastID: lastID, revision: revision)
        guard !knowsDeletions else { return }
        for index in readers.indices { readers[index].mayReset = true }
    }

    /// Reads a page as a caller does, which asks again as often as it is told to.
    private mutating func readPage(_ query: SyncQuery) throws -> SyncPage {
        var allowance = RefreshAllowance(keyCount: keyCount)
        for _ in 0..<64 {
            page.removeAll()
            if case .done(let read) = store.sync(query, into: &page, allowance: &allowance) {
                return read
            }
            allowance.renew()
        }
        throw Difference(description: "A read does not end.")
    }

    @discardableResult
    private mutating func read(_ index: Int) throws -> SyncPage {
        var reader = readers[index]
        let size = Int.random(in: 1...40, using: &random)
        let before = store.revision
        let read = try readPage(
            SyncQuery(
                feed: reader.feed,
                position: reader.position,
                size: size,
                viewer: reader.viewer,
                marks: reader.viewer.map { _ in reader.marks }
            )
        )
        guard page.rows.count <= size, read.position.revision <= before else {
            throw Difference(description: "A page of \(page.rows.count) up to \(read.position)")
        }
        if read.isReset {
            guard reader.mayReset || reader.position.revision == 0 else {
                throw Difference(description: "Reader \(index) begins anew at \(reader.position)")
            }
            reader.resetCount += 1
            if !keepsCopies { reader.copy = [:] }
        }
        if !read.hasMore { reader.mayReset = false }
        reader.position = read.position
        if let marks = read.marks {
            guard marks.changes.count <= size, marks.position.revision <= before else {
                throw Difference(
                    description: "Marks \(marks.changes.count) up to \(marks.position)"
                )
            }
            reader.marks = marks.position
            if !ignoresMarks { reader.apply(marks) }
        }
        for row in page.rows {
            guard row.revision > reader.copy[row.id]?.revision ?? 0 else { continue }
            reader.copy[row.id] = row.isDeleted ? nil : row
        }
        readers[index] = reader
        return read
    }

    /// Has each reader read all, and compares its copy with the posts of its feed.
    private mutating func compare() throws {
        store.checkInvariants()
        for index in readers.indices {
            var count = 0
            while case let found = try read(index), found.hasMore || found.marks?.hasMore == true {
                count += 1
                if count > 20_000 { throw Difference(description: "A copy does not end.") }
            }
            try compare(readers[index])
        }
    }

    private mutating func compare(_ reader: Reader) throws {
        var live: [PostID: PostRow] = [:]
        for id in ids {
            page.removeAll()
            try store.post(id, into: &page)
            let voter = reader.viewer.flatMap { store.voter(ifKnown: $0) }
            page.apply(voter.flatMap { store.marks(of: $0) })
            if reader.feed == nil || page.rows[0].feed == reader.feed { live[id] = page.rows[0] }
        }
        guard live.count == reader.copy.count else {
            let text = "A copy of \(reader.copy.count) of \(live.count) posts"
            throw Difference(description: text)
        }
        for (id, post) in live {
            guard let copied = reader.copy[id], copied.revision == post.revision,
                copied.score == post.score, copied.viewerState == post.viewerState
            else { throw Difference(description: "\(id): \(reader.copy[id] as Any), not \(post)") }
        }
    }
}

extension SyncRun.Reader {
    /// Applies changes of marks as PROTOCOL.md says.
    mutating func apply(_ page: MarkPage) {
        if page.isReset {
            for id in copy.keys { copy[id]?.viewerState = ViewerState() }
        }
        for case .through(let step) in page.changes {
            for (id, row) in copy
            where step.covers(row.origin) && (step.feed == nil || step.feed == row.feed) {
                switch step.mark {
                case .read, .unread: copy[id]?.viewerState.isRead = step.mark == .read
                case .dismissed, .restored:
                    copy[id]?.viewerState.isDismissed = step.mark == .dismissed
                }
            }
        }
        for case .post(let id, let state) in page.changes { copy[id]?.viewerState = state }
    }
}
