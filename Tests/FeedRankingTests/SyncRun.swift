import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization

/// Random changes of a store beside readers that keep copies, and restarts.
///
/// A reader reads a page at any moment. When it has read all, its copy is the store's posts.
struct SyncRun {
    /// A copy of the posts of a feed, and how far it has come.
    struct Reader {
        let feed: FeedID?
        var position = SyncPosition.start
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

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        stripeCount = [1, 2, 16].randomElement(using: &random) ?? 1
        keyCount = [1, 100, 1_000_000].randomElement(using: &random) ?? 1
        store = Self.store(stripeCount, clock)
        readers = [nil, Self.feeds[0], Self.feeds[2], nil].map { Reader(feed: $0) }
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
            SyncQuery(feed: reader.feed, position: reader.position, size: size)
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
            while try read(index).hasMore {
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
            if reader.feed == nil || page.rows[0].feed == reader.feed { live[id] = page.rows[0] }
        }
        guard live.count == reader.copy.count else {
            let text = "A copy of \(reader.copy.count) of \(live.count) posts"
            throw Difference(description: text)
        }
        for (id, post) in live {
            guard let copied = reader.copy[id], copied.revision == post.revision,
                copied.score == post.score
            else { throw Difference(description: "\(id): \(reader.copy[id] as Any), not \(post)") }
        }
    }
}
