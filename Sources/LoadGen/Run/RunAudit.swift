import FeedClient

/// The audit of a run, by what the server speaks.
enum RunAudit: Sendable {
    /// Of the feed service.
    case feed(Audit)
    /// Of a server that speaks RESP2.
    case resp(RESPAudit)

    /// The audit of a run at its end.
    init(
        _ configuration: RunConfiguration,
        _ knowledge: AuditKnowledge,
        of run: PreparedRun
    ) {
        switch run.server {
        case .feed(let service):
            self = .feed(Audit(configuration, knowledge, of: run, at: service))
        case .resp(let posts):
            self = .resp(
                RESPAudit(
                    address: run.address,
                    posts: posts,
                    knowledge: knowledge,
                    configuration: configuration
                )
            )
        }
    }

    /// Audits over a connection of its own; calls `connected` once a client of the service is
    /// connected.
    func run(
        connected: (FeedClient) -> Void
    ) async throws(FeedClientError) -> Audit.Report {
        switch self {
        case .feed(let audit): try await audit.run(connected: connected)
        case .resp(let audit): Audit.Report(outcome: await audit.run())
        }
    }
}
