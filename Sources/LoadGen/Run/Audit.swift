internal import FeedClient
import FeedProto
import FeedTransport

/// Compares what a run knows of its posts with what the service has.
struct Audit: Sendable {
    let configuration: RunConfiguration
    /// The addresses of the service, in the order in which to try them.
    let addresses: [SocketAddress]
    /// The state that the service had in the run.
    let instanceID: UInt64
    let knowledge: AuditKnowledge
    let lists: [AuditedList]
    /// The files whose posts are compared; nil in a run of a workload.
    let imported: ImportedDataset?

    /// The audit of a run at its end.
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

    /// The audit of the posts of an earlier run.
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

    /// What an audit brings home.
    struct Report: Sendable {
        /// What it found.
        var outcome: AuditOutcome
        /// What it sent again.
        var retries = RetryCounts()
        /// The service's own times before it.
        var times: ServerTimes?
        /// What it deleted; nil where nothing was to be deleted.
        var cleanup: CleanupOutcome?
    }

    /// Audits over a connection of its own; calls `connected` once that is open.
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
        guard client.service.instanceID == instanceID else {
            return .failed(postCount: 0, cause: "The service has another state than in the run.")
        }
        var ids = Set(knowledge.accounts.map(\.id)).union(knowledge.createdIDs).makeIterator()
        var deletedCount = 0
        do {
            try await FeedClient.pipeline(
                depth: Self.deletionsAtOnce,
                next: { ids.next() },
                call: { try await client.deletePost($0) },
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
        guard client.service.instanceID == instanceID else {
            return foundAnotherState(client.service.instanceID)
        }
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
