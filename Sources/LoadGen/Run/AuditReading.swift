import FeedProto
import FeedTransport

/// Reads what the audit compares: each post of the run by its id, then, after a quiet moment, every
/// page of the feed once.
final class AuditReading {
    private let control: ControlConnection
    private let loop: EventLoop
    private let feed: String
    private let accounts: [PostAccount]
    private let completion: (Result<AuditSummary, ControlError>) -> Void
    private var expectation: FeedWalk.Expectation
    private var summary: AuditSummary
    private var votes = VoteAudit()
    private var walk: FeedWalk?
    private var nextBatch = 0
    private var batchesInFlight = 0
    private var startInstant = EventLoop.clock
    private var isEnded = false

    /// Prepares to compare `accounts`; `completion` is called once.
    init(
        _ control: ControlConnection,
        loop: EventLoop,
        feed: String,
        accounts: [PostAccount],
        expectation: FeedWalk.Expectation,
        summary: AuditSummary,
        completion: @escaping (Result<AuditSummary, ControlError>) -> Void
    ) {
        self.control = control
        self.loop = loop
        self.feed = feed
        self.accounts = accounts
        self.expectation = expectation
        self.summary = summary
        self.completion = completion
    }

    /// Starts with the scores.
    func start() {
        startInstant = EventLoop.clock
        for _ in 0..<Self.batchesAtOnce { readNextBatch() }
    }

    /// A batch takes as many posts as the protocol allows.
    private static let batchSize = 100
    /// Batches in flight at once.
    private static let batchesAtOnce = 8
    /// Scores that still move after this long are moved by someone else.
    private static let quietTime = Duration.milliseconds(200)

    private func readNextBatch() {
        guard nextBatch * Self.batchSize < accounts.count else {
            if batchesInFlight == 0 { waitForQuiet() }
            return
        }
        let start = nextBatch * Self.batchSize
        let batch = accounts[start..<min(start + Self.batchSize, accounts.count)]
        nextBatch += 1
        batchesInFlight += 1
        let request = BatchGetPostsRequest(ids: batch.map(\.id))
        control.call(.batchGetPosts(request)) { self.receive($0, for: batch) }
    }

    private func receive(
        _ answer: Result<FeedProto.Response, ControlError>,
        for batch: ArraySlice<PostAccount>
    ) {
        guard !isEnded else { return }
        guard case .success(.batchGetPosts(let response)) = answer else { return fail(answer) }
        batchesInFlight -= 1
        for post in response.posts { expectation.scores[post.id] = post.score }
        for account in batch { votes.check(account, score: expectation.scores[account.id]) }
        readNextBatch()
    }

    private func waitForQuiet() {
        guard !isEnded, walk == nil else { return }
        walk = FeedWalk(expectation)
        let passed = EventLoop.clock.duration(since: startInstant)
        do throws(TransportError) {
            try loop.addTimer(after: max(.zero, Self.quietTime - passed)) { self.readPage([]) }
        } catch {
            end(.failure(.unreachable(error)))
        }
    }

    private func readPage(_ token: [UInt8]) {
        let request = ListPostsRequest(
            feed: feed,
            order: .top,
            pageSize: Int32(Self.batchSize),
            pageToken: token
        )
        control.call(.listPosts(request)) { self.receive($0) }
    }

    private func receive(_ answer: Result<FeedProto.Response, ControlError>) {
        guard !isEnded else { return }
        guard case .success(.listPosts(let page)) = answer else { return fail(answer) }
        walk?.visit(page.posts.map(ListedPost.init))
        guard page.nextPageToken.isEmpty else { return readPage(page.nextPageToken) }
        walk?.finish(announcedCount: page.totalSize)
        summary.findings.add(votes.findings)
        if let walk {
            summary.findings.add(walk.findings)
            summary.listedPostCount = UInt64(walk.seenCount)
        }
        summary.countedVoteCount = votes.countedVoteCount
        summary.exactPostCount = votes.exactPostCount
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
        isEnded = true
        completion(result)
    }
}
