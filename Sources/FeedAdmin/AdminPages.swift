/// The pages of the operator's address, and where their values come from.
///
/// The closures are called on the thread of the operator's address. They may take some milliseconds,
/// and must not wait for a loop.
package struct AdminPages: Sendable {
    package var metrics: @Sendable () -> [MetricFamily]
    /// Why the service is not ready; empty where it is.
    package var causes: @Sendable () -> [String]
    package var history: History
    /// What the service is, in a few words each, as `version 0.2.0`.
    package var facts: @Sendable () -> [String]
    /// The largest counts of errors, by reason.
    package var errors: @Sendable () -> [(reason: String, count: UInt64)]
    package init(
        metrics: @escaping @Sendable () -> [MetricFamily],
        causes: @escaping @Sendable () -> [String],
        history: History,
        facts: @escaping @Sendable () -> [String] = { [] },
        errors: @escaping @Sendable () -> [(reason: String, count: UInt64)]
    ) {
        self.metrics = metrics
        self.causes = causes
        self.history = history
        self.facts = facts
        self.errors = errors
    }

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isAdmitted: Whether its sender may read all pages. Others learn whether the service lives and
    ///     is ready, and not why: a balancer's probes show no key.
    /// - Returns: The answer.
    package func response(to request: HTTPRequest, isAdmitted: Bool) -> HTTPResponse {
        switch request.path {
        case "/live", "/livez", "/healthz": return .text(.ok, "live")
        case "/ready", "/readyz": return readyPage(says: isAdmitted)
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
                    + "/livez, /healthz, /ready and /readyz."
            )
        }
    }

    private func metricsPage(_ form: MetricsText) -> HTTPResponse {
        HTTPResponse(contentType: form.contentType, body: form.encode(metrics()))
    }

    private func readyPage(says isAdmitted: Bool) -> HTTPResponse {
        let causes = causes()
        guard causes.isEmpty else {
            let words = isAdmitted ? ": " + causes.joined(separator: "; ") : ""
            return .text(.unavailable, "not ready" + words)
        }
        return .text(.ok, "ready")
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
