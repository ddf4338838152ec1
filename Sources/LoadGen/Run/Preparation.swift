import FeedClient
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
    /// Shows a progress line, if there are any.
    let showProgress: @Sendable (String) -> Void

    /// Prepares the run.
    func run() async throws(RunFailure) -> PreparedRun {
        if configuration.wireProtocol == .resp {
            return try await RESPPreparation(
                configuration: configuration,
                addresses: addresses,
                showProgress: showProgress
            ).run()
        }
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

    /// Connects to the first address that answers.
    private func connect() async throws(RunFailure) -> (FeedClient, SocketAddress) {
        var cause = ""
        for address in addresses {
            do throws(FeedClientError) {
                let client = try await configuration.connect(
                    to: [address],
                    as: clientID,
                    waitsForService: false
                )
                return (client, address)
            } catch {
                cause = error.cause
                guard case .cannotConnect = error else { break }
            }
        }
        throw .unreachable(target: configuration.target, cause: cause)
    }

    private func prepare(
        over client: FeedClient,
        at address: SocketAddress
    ) async throws(RunFailure) -> PreparedRun {
        let service = ServiceIdentity(client.service)
        try check(client.service)
        let feeds: [Feed]
        do throws(FeedClientError) {
            feeds = try await client.feeds()
        } catch {
            throw RunFailure(error, while: "listing the feeds")
        }
        if let dataset {
            let preparation = DatasetPreparation(
                configuration: configuration,
                dataset: dataset,
                client: client,
                address: address,
                showProgress: showProgress
            )
            return try await preparation.run(feeds, service)
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
            knowledge: configuration.voterCount > 0
                ? AuditKnowledge(ballotsOn: prefill.ids, unknownTitles: prefill.unknownTitles)
                : AuditKnowledge(postIDs: prefill.ids, unknownTitles: prefill.unknownTitles),
            outcome: failure.map(PreparedRun.Outcome.endedEarly) ?? ready(prefill.ids),
            startMilliseconds: prefill.startMilliseconds
        )
    }

    private func ready(_ postIDs: [UInt64]) -> PreparedRun.Outcome {
        let keys = KeyChoice(
            configuration.keys,
            postCount: postIDs.count,
            seed: configuration.seed
        )
        return .ready(
            Workload(postIDs: postIDs, keys: keys, voterCount: configuration.voterCount),
            hottestShare: keys.hottestShare
        )
    }
}
