import FeedAccounts
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Synchronization

/// A clock that a test moves, in Unix milliseconds.
final class ManualClock: Sendable {
    private let milliseconds: Atomic<Int64>

    init(_ milliseconds: Int64 = 1_700_000_000_000) { self.milliseconds = Atomic(milliseconds) }

    var now: Int64 { milliseconds.load(ordering: .relaxed) }

    func set(_ time: Int64) { milliseconds.store(time, ordering: .relaxed) }
}

/// A leader's random calls, and its records with what its readers see after each.
struct LeaderRun {
    /// A sealed record, and the leader's state as of its end.
    struct Record: Sendable {
        var body: [UInt8]
        var position: JournalPosition
        var revision: UInt64
        var storeHash: UInt64
        var accountsHash: UInt64
        var lists: [[SeenPost]]
        var unreadCount: UInt64
        var createdCount: UInt64
    }

    static let device = VoterKey.device(Device16(high: 1, low: 0))
    private static let logCount = 3

    let store: FeedStore
    let accounts = Accounts()
    let clock = ManualClock()
    private(set) var records: [Record] = []
    /// Each version of each post, by id and revision.
    private(set) var versions: [UInt64: [UInt64: PostCounts]] = [:]
    /// The posts that were created and not imported, by id, with the record that has each.
    private(set) var created: [UInt64: Int] = [:]
    private let logs = ChangeLogs(count: logCount, firstBatch: 1) {}
    private var chain = RecordChain(after: .start)
    private var generator: SeededGenerator
    private var posts: [PostID] = []
    private var feeds: [FeedID] = [0, 1].map(FeedID.init(rawValue:))
    private var tokens: [SessionToken] = []
    private var page = PostPage()
    private var newPosts: [UInt64] = []

    init(seed: UInt64, records count: Int) throws {
        generator = SeededGenerator(seed: seed)
        store = FeedStore(stripeCount: 4) { [clock] in clock.now }
        try seal(calls: 400)
        for _ in 1..<count {
            let isLong = generator.oneIn(12)
            try seal(calls: Int.random(in: isLong ? 150...400 : 1...25, using: &generator))
        }
    }

    /// Makes random calls, and a record of them.
    private mutating func seal(calls: Int) throws {
        for _ in 0..<calls { try call() }
        // The clock is read before the batch is taken.
        let time = UInt64(clock.now) * 1_000
        var body: [UInt8] = []
        guard let batch = logs.takeBatch(into: &body, after: chain.headByteCount) else { return }
        chain.seal(&body, entryCount: batch.entryCount, at: time)
        let number = UInt64(records.count + 1)
        _ = try chain.take(body.span, record: number)
        try note(body)
        for id in newPosts { created[id] = records.count + 1 }
        newPosts = []
        records.append(
            Record(
                body: body,
                position: JournalPosition(number: number, hash: number),
                revision: store.revision,
                storeHash: store.stateHash(),
                accountsHash: accounts.state().stateHash,
                lists: try SeenPost.queries.map { try store.seen($0) },
                unreadCount: store.unreadCount(),
                createdCount: try store.firstPosts().createdCount
            )
        )
    }

    private mutating func note(_ body: [UInt8]) throws {
        var reader = try LogEntryReader(Array(body.dropFirst(RecordHead.byteCount)))
        while let entry = try reader.next() {
            switch entry {
            case .counts(let counts), .ballot(let counts, _, _):
                versions[counts.id.rawValue, default: [:]][counts.revision] = counts
            case .post(let post):
                versions[post.counts.id.rawValue, default: [:]][post.counts.revision] = post.counts
            default: break
            }
        }
    }

    private mutating func call() throws {
        clock.set(clock.now + Int64.random(in: 0...2, using: &generator) / 2)
        let log = logs[Int.random(in: 0..<Self.logCount, using: &generator)]
        let choice = Int.random(in: 0..<100, using: &generator)
        try log.transaction {
            switch choice {
            case 0..<14: try create(log)
            case 14: try importSome(log)
            case 15..<65: try vote(log)
            case 65..<70: voteOnSome(log)
            case 70..<76: try update(log)
            case 76..<81: try delete(log)
            case 81..<92: try mark(log)
            case 92: try createFeed(log)
            default: try account(log)
            }
        }
    }

    private mutating func anyPost() -> PostID? {
        // Mostly one of the newest, as in life, so that records meet in posts.
        let newest = posts.suffix(generator.oneIn(2) ? 12 : posts.count)
        return newest.randomElement(using: &generator)
    }

    private mutating func create(_ log: ChangeLog) throws {
        let feed = feeds.randomElement(using: &generator) ?? FeedID(rawValue: 0)
        page.removeAll()
        try store.createPost(content(), in: feed, sink: log, into: &page)
        posts.append(page.rows[0].id)
        newPosts.append(page.rows[0].id.rawValue)
    }

    private mutating func importSome(_ log: ChangeLog) throws {
        let count = Int.random(in: 1...5, using: &generator)
        let imported = (0..<count).map { _ in
            ImportedPost(
                content: content(),
                createTimeMilliseconds: clock.now
                    - Int64.random(in: 10_000...9_000_000, using: &generator),
                upvoteCount: UInt64.random(in: 0...9, using: &generator)
            )
        }
        let first = try store.importPosts(imported, in: FeedID(rawValue: 0), sink: log).firstID
        posts += (0..<UInt64(count)).map { PostID(rawValue: first.rawValue + $0) }
    }

    private mutating func vote(_ log: ChangeLog) throws {
        guard let id = anyPost() else { return }
        let voter = try voter(log)
        let way: VoteDirection =
            generator.oneIn(8) ? .clear : generator.oneIn(4) ? .down : .up
        // A clear on a tally is refused.
        _ = try? store.castVote(id, way, voter: voter, sink: log)
    }

    private mutating func voteOnSome(_ log: ChangeLog) {
        var votes = BatchedVotes()
        for _ in 0..<Int.random(in: 2...40, using: &generator) {
            guard let id = anyPost() else { continue }
            votes.entries[votes.count].post = id
            votes.entries[votes.count].direction = generator.oneIn(3) ? .down : .up
            votes.count += 1
        }
        store.castVotes(&votes, voter: store.voter(ifKnown: Self.device), sink: log)
    }

    private mutating func voter(_ log: ChangeLog) throws -> VoterID {
        let number = UInt64.random(in: 0...20, using: &generator)
        let key: VoterKey =
            generator.oneIn(3) ? .user(number + 1) : .device(Device16(high: 1, low: number))
        return try store.voter(for: key, sink: log)
    }

    private mutating func update(_ log: ChangeLog) throws {
        guard let id = anyPost() else { return }
        var changes = PostChanges(commentCount: generator.next() % 50)
        if generator.oneIn(2) { changes.title = "Title \(generator.next() % 1_000)" }
        page.removeAll()
        try store.updatePost(id, changes, sink: log, into: &page)
    }

    private mutating func delete(_ log: ChangeLog) throws {
        guard let id = anyPost(), posts.count > 100, let place = posts.firstIndex(of: id) else {
            return
        }
        try store.deletePost(id, sink: log)
        posts.remove(at: place)
    }

    private mutating func mark(_ log: ChangeLog) throws {
        guard let id = anyPost() else { return }
        let viewer = try store.voter(for: Self.device, sink: log)
        let mark = Mark.allCases.randomElement(using: &generator) ?? .read
        if generator.oneIn(8) {
            try? store.mark(through: id, in: nil, as: mark, by: viewer, sink: log)
        } else if generator.oneIn(10) {
            var sweep = MarkSweep()
            for _ in 0..<130 { store.sweepMarks(&sweep, sink: log) }
        } else {
            try store.mark([id], as: mark, by: viewer, sink: log)
        }
    }

    private mutating func createFeed(_ log: ChangeLog) throws {
        guard feeds.count < 6 else { return }
        let mode: VoteMode = feeds.count % 2 == 0 ? .ballot : .userBallot
        let policy = FeedPolicy(name: "feed \(feeds.count)", voteMode: mode)
        feeds.append(try store.createFeed(policy, sink: log))
    }

    private mutating func account(_ log: ChangeLog) throws {
        let now = Int64(records.count) * 86_400_000
        let user = UInt64.random(in: 1...20, using: &generator)
        let token = tokens.randomElement(using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 11:
            _ = accounts.delete(user, erasing: .posts, log)
            if generator.oneIn(2) { accounts.endErasure(of: user, log) }
        case 8:
            _ = accounts.change(user, endsSessions: generator.oneIn(2), log) { row in
                row.passwordHash = "\(now)"
                row.status = row.isSuspended ? .active : .suspended
                return true
            }
        case 9: _ = accounts.beginReset(of: user, at: now, log)
        case 10:
            // Some give up what others take in the same record.
            guard let email = EmailAddress("user\(user % 7)@other.example.org") else { return }
            _ = try? accounts.changeEmail(of: user, to: email, log) { _ in true }
        case 0:
            guard let email = EmailAddress("user\(user)@example.org") else { return }
            _ = try? accounts.create(email, displayName: "", passwordHash: "", at: now, log)
        case 1...4:
            if let begun = accounts.beginSession(of: user, at: now, log) {
                tokens.append(begun.token)
            }
        case 5:
            if let token, let session = accounts.session(token.hash, at: now) {
                _ = accounts.renew(session, at: now, log)
            }
        case 6: if let token { accounts.end(token.hash, log) }
        default:
            accounts.endAllSessions(of: user, log)
            _ = accounts.sweep(at: now, limit: 10, log)
        }
    }

    private mutating func content() -> PostContent {
        PostContent(
            title: "Title \(generator.next() % 1_000)",
            text: String(repeating: "text ", count: Int(generator.next() % 20)),
            commentCount: generator.next() % 50
        )
    }
}

/// A post as a reader sees it.
struct SeenPost: Equatable, Sendable {
    var id: PostID
    var revision: UInt64
    var upvoteCount: UInt64
    var downvoteCount: UInt64
    var commentCount: UInt64
    var title: String
    var vote: VoteDirection?
    var state: ViewerState

    /// The lists that readers read: first pages of all orders, further ones, and those of a viewer.
    static let queries: [PageQuery] = {
        let posts = FeedID(rawValue: 0)
        var queries: [PageQuery] = []
        for order in Order.allCases {
            queries.append(PageQuery(feed: posts, order: order, size: 10))
            queries.append(PageQuery(feed: nil, order: order, size: 5))
        }
        for order in [Order.top, .new] {
            queries.append(PageQuery(feed: posts, order: order, size: 20, start: .rank(30)))
            var own = PageQuery(feed: nil, order: order, size: 30)
            own.voter = VoterID(rawValue: 0)
            queries.append(own)
        }
        return queries
    }()
}

extension FeedStore {
    /// Reads a page, with the ballots and marks of the viewer of a query that has one.
    func read(_ query: PageQuery) throws -> PostPage {
        var query = query
        if query.voter != nil {
            query.voter = voter(ifKnown: LeaderRun.device)
            query.marks = query.voter.flatMap { marks(of: $0) }
            query.filter.includesDismissed = true
        }
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: 64)
        while try self.page(query, into: &page, allowance: &allowance) != .done {
            allowance.renew()
        }
        return page
    }

    func seen(_ query: PageQuery) throws -> [SeenPost] { try read(query).seen }

    func unreadCount() -> UInt64 {
        let viewer = voter(ifKnown: LeaderRun.device)
        var allowance = RefreshAllowance()
        while true {
            let count = unreadCount(
                in: FeedID(rawValue: 0),
                by: viewer,
                allowance: &allowance
            )
            if let count { return count }
            allowance.renew()
        }
    }

    /// The first posts that a watch of the front page reads.
    func firstPosts() throws -> FirstPosts {
        var first = FirstPosts()
        var allowance = RefreshAllowance()
        while !readFirstPosts(
            of: nil,
            .hot,
            nil,
            count: 5,
            into: &first,
            allowance: &allowance
        ) {
            allowance.renew()
        }
        return first
    }
}

extension PostPage {
    var seen: [SeenPost] {
        rows.map { row in
            SeenPost(
                id: row.id,
                revision: row.revision,
                upvoteCount: row.upvoteCount,
                downvoteCount: row.downvoteCount,
                commentCount: row.commentCount,
                title: String(decoding: bytes(row.title), as: UTF8.self),
                vote: row.viewerVote,
                state: row.viewerState
            )
        }
    }
}
