import FeedClient
import FeedConcurrency
import FeedDataset
import FeedImport
import FeedProto
import FeedTransport

/// What a run does before its load: it reaches the service, checks the feeds, and creates or imports
/// the posts.
struct Preparation: Sendable {
    let configuration: RunConfiguration
    /// The addresses of the server, in the order in which to try them.
    let addresses: [SocketAddress]
    /// The identity under which calls are sent again; nil in a run without retries.
    let clientID: ClientID?
    /// The files of the run; nil in a run of a workload.
    let dataset: Dataset?
    let showProgress: @Sendable (String) -> Void

    func run() async throws(RunFailure) -> PreparedRun {
        if configuration.wireProtocol == .resp { return try await addPosts() }
        let (client, address) = try await connect()
        let result: Result<PreparedRun, RunFailure>
        do throws(RunFailure) {
            result = .success(try await prepare(over: client, at: address))
        } catch {
            result = .failure(error)
        }
        let retries = await client.history()?.retries
        await client.close()
        var prepared = try result.get()
        prepared.retries = retries ?? RetryCounts()
        return prepared
    }

    private func connect() async throws(RunFailure) -> (FeedClient, SocketAddress) {
        var cause = ""
        // A client of several services tries them all by itself.
        for address in configuration.hasSeveralTargets ? addresses.prefix(1) : addresses[...] {
            do throws(FeedClientError) {
                return (try await connect(to: address), address)
            } catch {
                cause = error.cause
                guard case .cannotConnect = error else { break }
            }
        }
        throw .unreachable(target: configuration.target, cause: cause)
    }

    /// Connects to a server, or to the services of a cluster, which are asked again while none of them leads
    /// or listens, as often as a lost connection is opened again.
    private func connect(to address: SocketAddress) async throws(FeedClientError) -> FeedClient {
        let pauses = Backoff(configuration.retryPolicy)
        var generator = SystemRandomNumberGenerator()
        var round = 1
        while true {
            do throws(FeedClientError) {
                return try await configuration.connect(
                    to: [address],
                    as: clientID,
                    waitsForService: false
                )
            } catch {
                guard configuration.asksAgain(after: error), round <= configuration.retryLimit
                else { throw error }
            }
            do {
                try await Task.sleep(for: pauses.delay(round: round, using: &generator))
            } catch {
                throw .cancelled(effect: .none)
            }
            round += 1
        }
    }

    private func prepare(
        over client: FeedClient,
        at address: SocketAddress
    ) async throws(RunFailure) -> PreparedRun {
        guard let hello = client.service else {
            preconditionFailure("A client that is connected knows its service.")
        }
        let service = ServiceIdentity(hello)
        try check(hello)
        let feeds: [Feed]
        do throws(FeedClientError) {
            feeds = try await client.feeds()
        } catch {
            throw RunFailure(error, while: "listing the feeds")
        }
        if let dataset {
            return try await importPosts(
                of: dataset,
                beside: feeds,
                over: client,
                service,
                at: address
            )
        }
        try await checkFeed(feeds.first { $0.name == configuration.feed }, over: client)
        return try await createPosts(over: client, service, at: address)
    }

    /// Refuses a feed whose votes mean something else; creates the run's own where it is missing, and one
    /// for users.
    private func checkFeed(_ feed: Feed?, over client: FeedClient) async throws(RunFailure) {
        let name = configuration.feed
        let hasVoters = configuration.voterCount > 0
        guard let feed else {
            guard hasVoters || configuration.usesOwnFeed else { throw .noFeed(name) }
            let feed =
                hasVoters
                ? Feed(name: name, voteMode: .ballot, voters: .users)
                : Feed(name: name, voteMode: .tally)
            do throws(FeedClientError) {
                try await client.createFeed(feed)
            } catch .refused(let status) where status.reason == .feedExists {
                // Another generator was faster.
            } catch {
                throw .cannotCreateFeed(name, cause: error.cause)
            }
            return
        }
        guard feed.voteMode != .tally || !hasVoters else { throw .tallyFeed(name) }
        guard feed.voteMode == .tally || hasVoters else { throw .ballotFeed(name) }
    }

    /// Refuses a service that cannot do what the flags ask for.
    private func check(_ service: HelloResponse) throws(RunFailure) {
        if clientID != nil {
            guard service.capabilities.contains(.exactlyOnce) else { throw .noExactlyOnce }
            if let window = service.limits?.sequenceWindow, window < configuration.pipelineDepth {
                throw .shortSequenceWindow(window, pipeline: configuration.pipelineDepth)
            }
        }
        let limit = service.limits?.maximumBatchVoteCount
        if let limit, limit < configuration.batchVoteCount {
            throw .smallBatchLimit(limit, batch: configuration.batchVoteCount)
        }
    }

    private func createPosts(
        over client: FeedClient,
        _ service: ServiceIdentity,
        at address: SocketAddress
    ) async throws(RunFailure) -> PreparedRun {
        let total = NumberFormat.count(UInt64(configuration.postCount))
        var prefill = Prefill()
        var failure: RunFailure?
        do {
            try await prefill.run(configuration.postCount, in: configuration.feed, over: client) {
                showProgress("creating posts  \(NumberFormat.count(UInt64($0))) of \(total)")
            }
        } catch {
            failure = RunFailure(error, while: "creating posts")
        }
        if let failure, prefill.ids.isEmpty { throw failure }
        return PreparedRun(
            address: address,
            server: .feed(service),
            knowledge: AuditKnowledge(
                postIDs: prefill.ids,
                configuration.voterCount > 0 ? .ballots : .scores,
                unknownTitles: prefill.unknownTitles
            ),
            outcome: failure.map(PreparedRun.Outcome.endedEarly) ?? ready(prefill.ids),
            startMilliseconds: prefill.startMilliseconds
        )
    }

    private func ready(_ postIDs: [UInt64]) -> PreparedRun.Outcome {
        let keys = KeyChoice(configuration.keys, postCount: postIDs.count, seed: configuration.seed)
        return .ready(
            Workload(postIDs: postIDs, keys: keys, voterCount: configuration.voterCount),
            hottestShare: keys.hottestShare
        )
    }
}

/// How the files of a dataset become posts: each feed is created or found empty, then filled.
extension Preparation {
    private func importPosts(
        of dataset: Dataset,
        beside feeds: [Feed],
        over client: FeedClient,
        _ service: ServiceIdentity,
        at address: SocketAddress
    ) async throws(RunFailure) -> PreparedRun {
        try await createFeeds(of: dataset, beside: feeds, over: client)
        let start = ContinuousClock.now
        var imported = ImportedDataset(repeatCount: configuration.repeatCount)
        for file in dataset.files {
            showProgress("importing \(file.name)")
            do {
                // Without their votes, which are the load.
                imported.begin(file)
                var rows = file.posts.makeIterator()
                try await PostImport(over: client, into: file.feed, votes: .cast).run(
                    rows: { rows.next().map(DatasetRow.post) },
                    take: { imported.add($0) }
                )
                imported.finishFile()
            } catch {
                let failure = RunFailure(error, while: "importing \(file.path)")
                // The posts imported so far are still reported, for a later audit.
                guard !imported.postIDs.isEmpty else { throw failure }
                return PreparedRun(
                    address: address,
                    server: .feed(service),
                    knowledge: AuditKnowledge(postIDs: imported.postIDs, .directions),
                    outcome: .endedEarly(failure)
                )
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return PreparedRun(
            address: address,
            server: .feed(service),
            knowledge: AuditKnowledge(
                postIDs: imported.postIDs,
                .directions,
                planned: imported.planned
            ),
            outcome: try ready(imported),
            imported: imported,
            dataset: DatasetResult(imported, importSeconds: seconds)
        )
    }

    /// Checks every feed of the dataset before it creates the missing ones.
    private func createFeeds(
        of dataset: Dataset,
        beside feeds: [Feed],
        over client: FeedClient
    ) async throws(RunFailure) {
        var missing: [String] = []
        for file in dataset.files {
            guard let feed = feeds.first(where: { $0.name == file.feed }) else {
                missing.append(file.feed)
                continue
            }
            guard feed.voteMode == .tally else { throw .ballotFeed(file.feed) }
            guard feed.postCount == 0 else {
                throw .feedNotEmpty(file.feed, postCount: feed.postCount)
            }
        }
        for name in missing {
            do throws(FeedClientError) {
                try await client.createFeed(
                    Feed(
                        name: name,
                        defaultOrder: .top,
                        voteMode: .tally,
                        maximumTitleLength: 1_000
                    )
                )
            } catch {
                throw RunFailure(error, while: "creating the feed \(name)")
            }
        }
    }

    /// The votes that the files record, as a load.
    private func ready(_ imported: ImportedDataset) throws(RunFailure) -> PreparedRun.Outcome {
        let planned = imported.planned
        let total = planned.clampedSum
        guard !planned.isEmpty else { throw .noPosts(imported.firstLeftOut) }
        guard total <= UInt64(PlannedVotes.maximumCount) else {
            throw .tooManyVotes(total, limit: UInt64(PlannedVotes.maximumCount))
        }
        let workload = Workload(
            // The upvotes and the downvotes of a post are separate numbers.
            postIDs: imported.postIDs.flatMap { [$0, $0] },
            keys: KeyChoice(.uniform, postCount: planned.count, seed: configuration.seed),
            planned: PlannedVotes(planned)
        )
        let most = stride(from: 0, to: planned.count, by: 2).map { planned[$0] + planned[$0 + 1] }
        return .ready(
            workload,
            hottestShare: total > 0 ? Double(most.max() ?? 0) / Double(total) : 0
        )
    }
}

/// The service of a run, as it answered Hello before the load.
struct ServiceIdentity: Sendable {
    let instanceID: UInt64
    private let milliseconds: Int64
    private let instant = MonotonicInstant.now

    init(_ hello: HelloResponse) {
        instanceID = hello.instanceID
        milliseconds = hello.serverTimeMilliseconds
    }

    /// The service's clock now, estimated from its answer to Hello.
    var clockMilliseconds: Int64 {
        let passed = MonotonicInstant.now.duration(since: instant)
        return milliseconds.addingClamped(Int64(passed.nanoseconds / 1_000_000))
    }
}

/// The server of a run, and what names the posts of the run there.
enum PreparedServer: Sendable {
    case feed(ServiceIdentity)
    /// A server that speaks RESP2, and the sorted set that stands for the posts.
    case resp(RESPSortedSet)

    /// The feed service; nil for another server.
    var service: ServiceIdentity? {
        if case .feed(let service) = self { service } else { nil }
    }
}

struct PreparedRun: Sendable {
    enum Outcome: Sendable {
        /// With posts to load; the most requested one gets a share of the requests.
        case ready(Workload, hottestShare: Double)
        /// With some of the posts, which can be audited later.
        case endedEarly(RunFailure)
    }

    /// The address of the server that was reached; the load and the audit go there too.
    let address: SocketAddress
    let server: PreparedServer
    /// The posts, on which there are no votes yet.
    var knowledge: AuditKnowledge
    var outcome: Outcome
    /// When the first post was created, by the service's clock.
    var startMilliseconds: Int64 = 0
    /// The imported files; nil in a run of a workload, and where not all were imported.
    var imported: ImportedDataset?
    var dataset: DatasetResult?
    var retries = RetryCounts()

    /// The identity under which requests are sent again; nil where none are.
    func identity(_ clientID: ClientID?) -> RunIdentity? {
        guard let clientID, let service = server.service else { return nil }
        return RunIdentity(clientID: clientID, instanceID: service.instanceID)
    }

    /// What a later run on the same posts begins with.
    func continued(knowing knowledge: AuditKnowledge) -> PreparedRun {
        var next = self
        next.knowledge = knowledge
        next.retries = RetryCounts()
        return next
    }

    /// What the run knows of its posts, for a later audit; nil where it made none, and for a server
    /// that has no later audit.
    func record(
        _ knowledge: AuditKnowledge,
        _ configuration: RunConfiguration,
        hasFiles: Bool
    ) -> RunRecord? {
        let tallied: Tallied =
            hasFiles ? .directions : configuration.voterCount > 0 ? .ballots : .scores
        guard !knowledge.accounts.isEmpty, let service = server.service else { return nil }
        var known = knowledge
        known.dropPlan()
        var record = RunRecord()
        record.instanceID = service.instanceID
        record.feed = configuration.feed
        // Feeds that were not filled completely may have posts that the run does not know.
        record.feeds = imported?.feeds ?? []
        record.startMilliseconds = startMilliseconds
        record.endMilliseconds = service.clockMilliseconds
        (record.tallied, record.accounts) = (tallied, known.accounts)
        record.createdIDs = knowledge.createdIDs.sorted()
        record.unknownTitles = knowledge.unknownTitles.sorted()
        return record
    }
}

/// Creates the posts of a run in order over one connection, so that a post has the same id in every
/// run on a fresh service.
struct Prefill: Sendable {
    private(set) var ids: [UInt64] = []
    /// Titles of posts that calls without an answer may have created.
    private(set) var unknownTitles: Set<String> = []
    /// When the first was created, by the service's clock.
    private(set) var startMilliseconds: Int64 = 0

    /// Creates `count` posts in `feed`; `progress` gets the number of posts created so far.
    ///
    /// After an error, the properties say which posts there are and which there may be.
    mutating func run(
        _ count: Int,
        in feed: String,
        over client: FeedClient,
        progress: (Int) -> Void
    ) async throws {
        var number = 0
        try await FeedClient.pipeline(
            depth: Self.depth,
            next: { () -> [Post]? in
                let numbers = number..<min(number + Self.callsPerTask, count)
                guard !numbers.isEmpty else { return nil }
                number = numbers.upperBound
                return numbers.map {
                    let title = PostText.title(maker: PostText.prefillMaker, number: $0)
                    return Post(title: title, text: PostText.body)
                }
            },
            call: { posts in (posts, await client.createPosts(posts, in: feed)) },
            take: { posts, results in try take(posts, results, progress) }
        )
    }

    /// Takes the results of all calls of a task; throws the first failure.
    private mutating func take(
        _ posts: [Post],
        _ results: [Result<Post, FeedClientError>],
        _ progress: (Int) -> Void
    ) throws {
        var failure: FeedClientError?
        for (post, result) in zip(posts, results) {
            switch result {
            case .success(let created):
                if ids.isEmpty { startMilliseconds = created.createTimeMilliseconds }
                ids.append(created.id.rawValue)
                if ids.count.isMultiple(of: Self.progressStep) { progress(ids.count) }
            case .failure(let error):
                if error.effect == .unknown { unknownTitles.insert(post.title) }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Calls that one task makes and waits for.
    private static let callsPerTask = 32
    /// With ``callsPerTask``, 128 calls in flight: enough to keep the service busy, and half of
    /// what it takes.
    private static let depth = 4
    private static let progressStep = 10_000
}
