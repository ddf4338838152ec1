/// The pages of the operator's address, and where their values come from.
///
/// The closures are called on the thread of the operator's address. They may take some milliseconds,
/// and must not wait for a loop.
package struct AdminPages: Sendable {
    package var metrics: @Sendable () -> [MetricFamily]
    /// Why the service is not ready; empty where it is.
    package var causes: @Sendable () -> [String]
    /// Why the service does not lead its cluster; nil if it does, or has none.
    package var notLeader: @Sendable () -> String?
    /// Why the service is no follower that may be read; nil if it is.
    package var notReplica: @Sendable () -> String?
    package var history: History
    /// What the service is, in a few words each, as `version 0.2.0`.
    package var facts: @Sendable () -> [String]
    /// The largest counts of errors, by reason.
    package var errors: @Sendable () -> [(reason: String, count: UInt64)]
    package init(
        metrics: @escaping @Sendable () -> [MetricFamily],
        causes: @escaping @Sendable () -> [String],
        notLeader: @escaping @Sendable () -> String? = { nil },
        notReplica: @escaping @Sendable () -> String? = { "has no cluster" },
        history: History,
        facts: @escaping @Sendable () -> [String] = { [] },
        errors: @escaping @Sendable () -> [(reason: String, count: UInt64)]
    ) {
        self.metrics = metrics
        self.causes = causes
        self.notLeader = notLeader
        self.notReplica = notReplica
        self.history = history
        self.facts = facts
        self.errors = errors
    }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isAdmitted: Whether its sender may read all pages. Others learn whether the service lives, is
    ///     ready and leads, and not why: a balancer's probes show no key.
    /// - Returns: The answer.
    package func response(to request: HTTPRequest, isAdmitted: Bool) -> HTTPResponse {
        switch request.path {
        case "/live", "/livez", "/healthz": return .text(.ok, "live")
        case "/ready", "/readyz": return probe("ready", causes(), says: isAdmitted)
        case "/leader": return probe("leader", notLeader().map { [$0] } ?? [], says: isAdmitted)
        case "/replica": return probe("replica", notReplica().map { [$0] } ?? [], says: isAdmitted)
        default: break
        }
        guard isAdmitted else {
            return .text(
                .unauthorized,
                "Expected a service key with the role reader, service or operator, as "
                    + "\"Authorization: Bearer KEY\", or a client's certificate."
            )
        }
        switch request.path {
        case "/":
            // dashboard.html, which loads nothing but /history, is compiled into the program: one file.
            let page = PackageResources.dashboard_html
            return HTTPResponse(contentType: "text/html; charset=utf-8", body: page)
        case "/metrics": return metricsPage(MetricsText(accept: request.accept))
        case "/history": return historyPage(request.query)
        default:
            return .text(
                .notFound,
                "There is no \(request.path) here. The pages are /, /metrics, /history, /live, "
                    + "/livez, /healthz, /ready, /readyz, /leader and /replica."
            )
        }
    }

    private func metricsPage(_ form: MetricsText) -> HTTPResponse {
        HTTPResponse(contentType: form.contentType, body: form.encode(metrics()))
    }

    /// Whether the service is something, for balancers, and why not.
    private func probe(_ word: String, _ causes: [String], says isAdmitted: Bool) -> HTTPResponse {
        guard causes.isEmpty else {
            let words = isAdmitted ? ": " + causes.joined(separator: "; ") : ""
            return .text(.unavailable, "not \(word)" + words)
        }
        return .text(.ok, word)
    }

    /// The seconds after a number, as `?after=17` says; all that are kept without it.
    private func historyPage(_ query: String) -> HTTPResponse {
        let after = query.split(separator: "&").lazy
            .compactMap { $0.hasPrefix("after=") ? Int($0.dropFirst("after=".count)) : nil }
            .first
        return HTTPResponse(
            contentType: "application/json",
            body: history.json(
                after: after ?? -1,
                causes: causes(),
                facts: facts(),
                errors: errors()
            )
        )
    }
}
