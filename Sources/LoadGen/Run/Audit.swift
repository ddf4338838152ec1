import FeedClient
import FeedProto
import FeedTransport

/// The audit of a run at what its server speaks.
protocol RunAudit: Sendable {
    /// Audits over a connection of its own; calls `connected` once a client of the service is
    /// connected.
    func run(connected: (FeedClient) -> Void) async throws(FeedClientError) -> Audit.Report
}

/// Compares what a run knows of its posts with what the service has.
struct Audit: RunAudit {
    let configuration: RunConfiguration
    /// The addresses of the service, in the order in which to try them.
    let addresses: [SocketAddress]
    /// The state that the service had in the run.
    let instanceID: UInt64
    let knowledge: AuditKnowledge
    let lists: [AuditedList]
    /// The files whose posts are compared; nil in a run of a workload.
    let imported: ImportedDataset?

    init(
        _ configuration: RunConfiguration,
        _ knowledge: AuditKnowledge,
        of run: PreparedRun,
        at service: ServiceIdentity
    ) {
        self.configuration = configuration
        addresses = [run.address]
        self.knowledge = knowledge
        instanceID = service.instanceID
        imported = run.imported
        lists =
            run.imported.map { AuditedList.lists(of: $0.feeds) }
            ?? [
                AuditedList(
                    feed: configuration.feed,
                    knowledge,
                    startMilliseconds: run.startMilliseconds
                )
            ]
    }

    init(
        _ configuration: RunConfiguration,
        _ addresses: [SocketAddress],
        _ knowledge: AuditKnowledge,
        of record: RunRecord
    ) {
        self.configuration = configuration
        self.addresses = addresses
        self.knowledge = knowledge
        instanceID = record.instanceID
        imported = nil
        lists =
            record.feeds.isEmpty
            ? [
                AuditedList(
                    feed: record.feed,
                    knowledge,
                    startMilliseconds: record.startMilliseconds,
                    endMilliseconds: record.endMilliseconds
                )
            ] : AuditedList.lists(of: record.feeds)
    }

    struct Report: Sendable {
        var outcome: AuditOutcome
        var retries = RetryCounts()
        /// The service's own times before it.
        var times: ServerTimes?
        /// What it deleted; nil where nothing was to be deleted.
        var cleanup: CleanupOutcome?
    }

    func run(connected: (FeedClient) -> Void) async throws(FeedClientError) -> Report {
        let client = try await configuration.connect(to: addresses, waitsForService: true)
        connected(client)
        // Read first, so that they are without the calls of the audit. A service may refuse them.
        let stats = try? await client.stats()
        let outcome = configuration.isVerified ? await read(over: client) : .skipped
        let cleanup = await cleanUp(after: outcome, over: client)
        let retries = await client.history()?.retries
        await client.close()
        let times = stats.map { ServerTimes($0, configuration) }
        return Report(
            outcome: outcome,
            retries: retries ?? RetryCounts(),
            times: times,
            cleanup: cleanup
        )
    }

    /// Deletes what the run made, where that is asked for and nothing is wrong with it.
    private func cleanUp(
        after outcome: AuditOutcome,
        over client: FeedClient
    ) async -> CleanupOutcome? {
        guard configuration.isCleanedUp else { return nil }
        switch outcome {
        case .impossible: return nil
        case .done where outcome.isFailed: return .kept
        case .done, .skipped: break
        }
        // In another state the ids are of other posts.
        guard client.service?.instanceID == instanceID else {
            return .failed(postCount: 0, cause: "The service has another state than in the run.")
        }
        var ids = Set(knowledge.accounts.map(\.id)).union(knowledge.createdIDs).makeIterator()
        var deletedCount = 0
        do {
            try await FeedClient.pipeline(
                depth: Self.deletionsAtOnce,
                next: { ids.next() },
                call: { try await client.deletePost(PostID(rawValue: $0)) },
                take: { deletedCount += 1 }
            )
        } catch {
            let failure = error as? FeedClientError ?? .cancelled(effect: .none)
            return .failed(postCount: deletedCount, cause: failure.cause)
        }
        return .done(postCount: deletedCount)
    }

    /// Half of the calls that a service takes in flight on a connection.
    private static let deletionsAtOnce = 128

    private func read(over client: FeedClient) async -> AuditOutcome {
        let foundID = client.service?.instanceID
        guard foundID == instanceID else { return foundAnotherState(foundID ?? 0) }
        var reading = AuditReading(over: client, knowledge: knowledge, dataset: imported)
        let summary: AuditSummary
        do {
            summary = try await reading.run(knowledge.accounts, lists)
        } catch {
            let failure = error as? FeedClientError ?? .cancelled(effect: .none)
            return .impossible(failure.cause)
        }
        // The service may have been replaced between two calls.
        let found = await client.history()?.instanceID ?? instanceID
        return found == instanceID ? .done(summary) : foundAnotherState(found)
    }

    /// A failed audit: another state has nothing of the run, acknowledged or not.
    private func foundAnotherState(_ found: UInt64) -> AuditOutcome {
        var summary = knowledge.summary
        summary.findings.note(
            .otherState,
            """
            The service has another state than in the run: instance \(RunRecord.name(found)) \
            instead of \(RunRecord.name(instanceID)), which is a fresh or a restored one.
            """
        )
        return .done(summary)
    }
}

/// Reads what the audit compares: first each post of the run by its id, then, after a pause, every
/// page of its lists once.
struct AuditReading {
    private let client: FeedClient
    private let dataset: ImportedDataset?
    private var summary: AuditSummary
    private var votes = VoteAudit()
    private var scores: [UInt64: Int64] = [:]

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
                    scores[post.id.rawValue] = post.score
                    dataset?.check(post, &summary.findings)
                }
                check(batch, Dictionary(posts.map { ($0.id.rawValue, $0) }) { first, _ in first })
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
        var ids: [PostID] = []
        for account in accounts where ids.last?.rawValue != account.id {
            ids.append(PostID(rawValue: account.id))
        }
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
    fileprivate func value(_ post: Post) -> Int64 {
        switch self {
        case .score: post.score
        case .upvotes, .ballotsUp: Int64(clamping: post.upvoteCount)
        case .downvotes, .ballotsDown: Int64(clamping: post.downvoteCount)
        }
    }
}
