internal import FeedClient
import FeedProto

/// Reads what the audit compares: first each post of the run by its id, then, after a pause, every
/// page of its lists once.
struct AuditReading {
    private let client: FeedClient
    private let dataset: ImportedDataset?
    private var summary: AuditSummary
    private var votes = VoteAudit()
    private var scores: [UInt64: Int64] = [:]

    /// An audit that has read nothing.
    init(over client: FeedClient, knowledge: AuditKnowledge, dataset: ImportedDataset?) {
        self.client = client
        self.dataset = dataset
        summary = knowledge.summary
        summary.postCount = 0
    }

    /// Compares `accounts`, in which the accounts of one post are adjacent, and `lists` with what
    /// the service has.
    mutating func run(
        _ accounts: [PostAccount],
        _ lists: [AuditedList]
    ) async throws -> AuditSummary {
        let start = ContinuousClock.now
        try await readPosts(accounts)
        try await Task.sleep(until: start + Self.quietTime, clock: .continuous)
        for list in lists { try await walk(list) }
        summary.findings.add(votes.findings)
        summary.countedVoteCount = votes.countedVoteCount
        return summary
    }

    /// The most posts that the protocol allows in a batch.
    private static let batchSize = 100
    /// Batches in flight at once.
    private static let batchesAtOnce = 8
    /// Scores that still change after this time are changed by other traffic.
    private static let quietTime = Duration.milliseconds(200)

    private mutating func readPosts(_ accounts: [PostAccount]) async throws {
        var rest = accounts[...]
        try await FeedClient.pipeline(
            depth: Self.batchesAtOnce,
            next: { Self.takeBatch(&rest) },
            call: { [client] batch in (batch, try await Self.posts(of: batch, over: client)) },
            take: { batch, posts in
                for post in posts {
                    scores[post.id] = post.score
                    dataset?.check(post, &summary.findings)
                }
                check(batch, Dictionary(posts.map { ($0.id, $0) }) { first, _ in first })
            }
        )
    }

    /// Takes the accounts of as many posts as a batch has from the front; nil where none is left.
    private static func takeBatch(
        _ rest: inout ArraySlice<PostAccount>
    ) -> ArraySlice<PostAccount>? {
        guard !rest.isEmpty else { return nil }
        var end = rest.startIndex
        var postCount = 0
        while end < rest.endIndex, postCount < batchSize {
            let id = rest[end].id
            while end < rest.endIndex, rest[end].id == id { end += 1 }
            postCount += 1
        }
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// Reads the posts of accounts; posts that the service does not have are not among them.
    private static func posts(
        of accounts: ArraySlice<PostAccount>,
        over client: FeedClient
    ) async throws -> [Post] {
        var ids: [UInt64] = []
        for account in accounts where ids.last != account.id { ids.append(account.id) }
        var posts: [Post] = []
        while !ids.isEmpty {
            let answer = try await client.getPosts(ids)
            // An answer ends early where more posts would not fit into a frame.
            let read = Set(answer.posts.map(\.id)).union(answer.missingIDs)
            let rest = ids.drop(while: read.contains)
            guard rest.count < ids.count else {
                let reason = "The answer has none of the posts."
                throw FeedClientError.protocolViolation(reason: reason, effect: .none)
            }
            posts += answer.posts
            ids = Array(rest)
        }
        return posts
    }

    /// Checks accounts, in which the accounts of one post are adjacent.
    private mutating func check(_ accounts: ArraySlice<PostAccount>, _ posts: [UInt64: Post]) {
        var index = accounts.startIndex
        while index < accounts.endIndex {
            let id = accounts[index].id
            var isExact = true
            while index < accounts.endIndex, accounts[index].id == id {
                let count = posts[id].map(accounts[index].number.value)
                isExact = votes.check(accounts[index], score: count) && isExact
                index += 1
            }
            if let post = posts[id] { checkScore(post) }
            summary.postCount += 1
            if isExact { summary.exactPostCount += 1 }
        }
    }

    private mutating func checkScore(_ post: Post) {
        let (ups, downs) = (post.upvoteCount, post.downvoteCount)
        guard post.score != Int64(clamping: ups) - Int64(clamping: downs) else { return }
        summary.findings.note(
            .wrongScore,
            "Post \(post.id) has score \(post.score), \(ups) upvotes and \(downs) downvotes."
        )
    }

    /// The most posts that a walk looks at of a list that says it has so many: others may add some.
    private static func longestWalk(of size: UInt64) -> UInt64 {
        min(size.multipliedClamped(by: 2).addingClamped(100_000), 100_000_000)
    }

    private mutating func walk(_ list: AuditedList) async throws {
        var expectation = list.expectation
        expectation.scores =
            list.ids.map { ids in scores.filter { ids.contains($0.key) } } ?? scores
        var walk = FeedWalk(expectation)
        var start: PageStart? = .first
        var announcedCount: UInt64 = 0
        var limit = UInt64.max
        while let pageStart = start {
            let page = try await client.listPosts(
                in: list.feed,
                order: .top,
                pageSize: Self.batchSize,
                from: pageStart
            )
            let hasNew = walk.visit(page.posts.map(ListedPost.init))
            announcedCount = page.totalSize
            // A service that repeats its pages, or makes up posts, would never come to the last one.
            limit = min(limit, Self.longestWalk(of: page.totalSize))
            let goesOn = hasNew && UInt64(walk.seenCount) <= limit
            start = goesOn ? page.next.map(PageStart.token) : nil
        }
        walk.finish(announcedCount: announcedCount)
        summary.findings.add(walk.findings)
        summary.listedPostCount += UInt64(walk.seenCount)
    }
}

extension PostAccount.Number {
    /// The value of this number in a post.
    fileprivate func value(_ post: Post) -> Int64 {
        switch self {
        case .score: post.score
        case .upvotes, .ballotsUp: Int64(clamping: post.upvoteCount)
        case .downvotes, .ballotsDown: Int64(clamping: post.downvoteCount)
        }
    }
}
