import FeedProto
import FeedTransport

/// Reads what the audit compares: first each post of the run by its id, then, after a pause, every
/// page of its lists once.
final class AuditReading {
    private let control: ControlConnection
    private let loop: EventLoop
    private let accounts: [PostAccount]
    private let batches: [Range<Int>]
    private let checkContent: (Post, inout Findings) -> Void
    private let completion: (Result<AuditSummary, ControlError>) -> Void
    private var lists: [AuditedList]
    private var summary: AuditSummary
    private var votes = VoteAudit()
    private var scores: [UInt64: Int64] = [:]
    private var walk: FeedWalk?
    private var nextBatch = 0
    private var batchesInFlight = 0
    private var nextList = 0
    private var startInstant = EventLoop.clock
    private var isEnded = false

    /// Prepares to compare `accounts`, in which the accounts of one post are adjacent; `completion`
    /// is called once.
    init(
        _ control: ControlConnection,
        loop: EventLoop,
        lists: [AuditedList],
        accounts: [PostAccount],
        summary: AuditSummary,
        checkContent: @escaping (Post, inout Findings) -> Void = { _, _ in },
        completion: @escaping (Result<AuditSummary, ControlError>) -> Void
    ) {
        self.control = control
        self.loop = loop
        self.lists = lists
        self.accounts = accounts
        self.summary = summary
        self.checkContent = checkContent
        self.completion = completion
        batches = Self.batches(accounts)
        self.summary.postCount = 0
    }

    /// Starts with the scores.
    func start() {
        startInstant = EventLoop.clock
        for _ in 0..<Self.batchesAtOnce { readNextBatch() }
    }

    /// The most posts that the protocol allows in a batch.
    private static let batchSize = 100
    /// Batches in flight at once.
    private static let batchesAtOnce = 8
    /// Scores that still change after this time are changed by other traffic.
    private static let quietTime = Duration.milliseconds(200)

    /// The accounts in ranges, each with as many posts as a batch takes.
    private static func batches(_ accounts: [PostAccount]) -> [Range<Int>] {
        var batches: [Range<Int>] = []
        var start = 0
        var postCount = 0
        for index in accounts.indices
        where index + 1 == accounts.count || accounts[index + 1].id != accounts[index].id {
            postCount += 1
            if postCount == batchSize || index + 1 == accounts.count {
                batches.append(start..<index + 1)
                start = index + 1
                postCount = 0
            }
        }
        return batches
    }

    private func readNextBatch() {
        guard nextBatch < batches.count else {
            if batchesInFlight == 0 { waitForQuiet() }
            return
        }
        let batch = accounts[batches[nextBatch]]
        nextBatch += 1
        batchesInFlight += 1
        var ids: [UInt64] = []
        for account in batch where ids.last != account.id { ids.append(account.id) }
        readBatch(ids, batch)
    }

    private func readBatch(_ ids: [UInt64], _ batch: ArraySlice<PostAccount>) {
        control.call(.batchGetPosts(BatchGetPostsRequest(ids: ids))) { answer in
            self.receive(answer, ids, batch)
        }
    }

    private func receive(
        _ answer: Result<FeedProto.Response, ControlError>,
        _ ids: [UInt64],
        _ batch: ArraySlice<PostAccount>
    ) {
        guard !isEnded else { return }
        guard case .success(.batchGetPosts(let response)) = answer else { return fail(answer) }
        let posts = Dictionary(response.posts.map { ($0.id, $0) }) { first, _ in first }
        let missing = Set(response.missingIDs)
        // An answer ends early where more posts would not fit into a frame; the rest is requested
        // next.
        let rest = ids.firstIndex { posts[$0] == nil && !missing.contains($0) } ?? ids.count
        guard rest > 0 else { return end(.failure(.unexpected)) }
        for post in response.posts {
            scores[post.id] = post.score
            checkContent(post, &summary.findings)
        }
        check(batch.prefix { $0.id != (rest < ids.count ? ids[rest] : 0) }, posts)
        guard rest == ids.count else {
            return readBatch(Array(ids[rest...]), batch.drop { $0.id != ids[rest] })
        }
        batchesInFlight -= 1
        readNextBatch()
    }

    /// Checks accounts, in which the accounts of one post are adjacent.
    private func check(_ accounts: ArraySlice<PostAccount>, _ posts: [UInt64: Post]) {
        var index = accounts.startIndex
        while index < accounts.endIndex {
            let id = accounts[index].id
            var isExact = true
            while index < accounts.endIndex, accounts[index].id == id {
                let count = posts[id].map(accounts[index].number.value)
                isExact = votes.check(accounts[index], score: count) && isExact
                index += 1
            }
            summary.postCount += 1
            if isExact { summary.exactPostCount += 1 }
        }
    }

    private func waitForQuiet() {
        guard !isEnded, walk == nil else { return }
        let passed = EventLoop.clock.duration(since: startInstant)
        do throws(TransportError) {
            try loop.addTimer(after: max(.zero, Self.quietTime - passed)) { self.walkNextList() }
        } catch {
            end(.failure(.unreachable(error)))
        }
    }

    private func walkNextList() {
        guard nextList < lists.count else { return conclude() }
        let list = lists[nextList]
        nextList += 1
        var expectation = list.expectation
        expectation.scores =
            list.ids.map { ids in scores.filter { ids.contains($0.key) } } ?? scores
        walk = FeedWalk(expectation)
        readPage(of: list.feed, [])
    }

    private func readPage(of feed: String, _ token: [UInt8]) {
        let request = ListPostsRequest(
            feed: feed,
            order: .top,
            pageSize: Int32(Self.batchSize),
            pageToken: token
        )
        control.call(.listPosts(request)) { self.receive($0, of: feed) }
    }

    private func receive(_ answer: Result<FeedProto.Response, ControlError>, of feed: String) {
        guard !isEnded else { return }
        guard case .success(.listPosts(let page)) = answer else { return fail(answer) }
        walk?.visit(page.posts.map(ListedPost.init))
        guard page.nextPageToken.isEmpty else { return readPage(of: feed, page.nextPageToken) }
        walk?.finish(announcedCount: page.totalSize)
        if let walk {
            summary.findings.add(walk.findings)
            summary.listedPostCount += UInt64(walk.seenCount)
        }
        walkNextList()
    }

    private func conclude() {
        summary.findings.add(votes.findings)
        summary.countedVoteCount = votes.countedVoteCount
        end(.success(summary))
    }

    private func fail(_ answer: Result<FeedProto.Response, ControlError>) {
        if case .failure(let error) = answer {
            end(.failure(error))
        } else {
            end(.failure(.unexpected))
        }
    }

    private func end(_ result: Result<AuditSummary, ControlError>) {
        guard !isEnded else { return }
        isEnded = true
        completion(result)
    }
}

extension PostAccount.Number {
    /// The value of this number in a post.
    fileprivate func value(_ post: Post) -> Int64 {
        switch self {
        case .score: post.score
        case .upvotes: Int64(clamping: post.upvoteCount)
        case .downvotes: Int64(clamping: post.downvoteCount)
        }
    }
}
