import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

/// The service of a run, as it answered Hello before the load.
struct ServiceIdentity: Sendable {
    /// The state that the service has.
    let instanceID: UInt64
    private let milliseconds: Int64
    private let instant = MonotonicInstant.now

    /// The service that has just answered with `hello`.
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
    /// The feed service, with the state that it has.
    case feed(ServiceIdentity)
    /// A server that speaks RESP2, and the sorted set that stands for the posts.
    case resp(RESPSortedSet)

    /// The feed service; nil for another server.
    var service: ServiceIdentity? {
        if case .feed(let service) = self { service } else { nil }
    }
}

/// What a run knows before its load.
struct PreparedRun: Sendable {
    /// How the preparation ended.
    enum Outcome: Sendable {
        /// With posts to load; the most requested one gets a share of the requests.
        case ready(Workload, hottestShare: Double)
        /// With some of the posts, which can be audited later.
        case endedEarly(RunFailure)
    }

    /// The address of the server that was reached; the load and the audit go there too.
    let address: SocketAddress
    /// Where the posts are.
    let server: PreparedServer
    /// The posts, on which there are no votes yet.
    var knowledge: AuditKnowledge
    /// How the preparation ended.
    var outcome: Outcome
    /// When the first post was created, by the service's clock.
    var startMilliseconds: Int64 = 0
    /// The imported files; nil in a run of a workload, and where not all were imported.
    var imported: ImportedDataset?
    /// The report of the files.
    var dataset: DatasetResult?
    /// What the preparation sent again.
    var retries = RetryCounts()
}

extension PreparedRun {
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
        let accounts = knowledge.accounts
        guard !accounts.isEmpty, let service = server.service else { return nil }
        var record = RunRecord(
            instanceID: service.instanceID,
            feed: configuration.feed,
            startMilliseconds: startMilliseconds,
            endMilliseconds: service.clockMilliseconds,
            tallied: tallied,
            posts: accounts.enumerated().filter { !tallied.isSplit || $0.offset.isMultiple(of: 2) }
                .map(\.element.id),
            tallies: accounts.map(\.tally)
        )
        // Feeds that were not filled completely may have posts that the run does not know.
        record.feeds = imported?.feeds ?? []
        record.createdIDs = knowledge.createdIDs.sorted()
        record.unknownTitles = knowledge.unknownTitles.sorted()
        for (number, account) in accounts.enumerated() {
            if account.unknownCount > 0 { record.unknown[number] = account.unknownCount }
            if account.errorCount > 0 { record.failed[number] = account.errorCount }
            if account.repeatedCount > 0 { record.repeated[number] = account.repeatedCount }
        }
        return record
    }
}
