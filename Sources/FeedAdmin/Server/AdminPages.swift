/// The pages of the operator's address, and where their values come from.
///
/// The closures are called on the thread of the operator's address. They may take some milliseconds,
/// and must not wait for a loop.
package struct AdminPages: Sendable {
    /// The metrics as they are now.
    package var metrics: @Sendable () -> [MetricFamily]
    /// Why the service is not ready; empty where it is.
    package var causes: @Sendable () -> [String]
    /// What the dashboard shows.
    package var history: History
    /// The largest counts of errors, by reason.
    package var errors: @Sendable () -> [(reason: String, count: UInt64)]
    /// Whether a request must name a loopback host: a page of the web that has its name resolved to
    /// 127.0.0.1 can then read nothing.
    package var requiresLoopbackHost = true

    /// The pages of some values.
    package init(
        metrics: @escaping @Sendable () -> [MetricFamily],
        causes: @escaping @Sendable () -> [String],
        history: History,
        errors: @escaping @Sendable () -> [(reason: String, count: UInt64)]
    ) {
        self.metrics = metrics
        self.causes = causes
        self.history = history
        self.errors = errors
    }

    /// The answer to a request.
    package func response(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return .text(.methodNotAllowed, "Pages are read with GET.")
        }
        guard !requiresLoopbackHost || LoopbackHost.isNamed(by: request.host) else {
            return .text(.misdirected, "Expected a loopback host, got \"\(request.host)\".")
        }
        switch request.path {
        case "/": return HTTPResponse(contentType: "text/html; charset=utf-8", body: Dashboard.page)
        case "/metrics": return metricsPage()
        case "/live": return .text(.ok, "live")
        case "/ready": return readyPage()
        case "/history": return historyPage(request.query)
        default: return .text(.notFound, "There is no \(request.path) here.")
        }
    }

    private func metricsPage() -> HTTPResponse {
        HTTPResponse(
            contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8",
            body: OpenMetricsText.encode(metrics())
        )
    }

    private func readyPage() -> HTTPResponse {
        let causes = causes()
        guard causes.isEmpty else {
            return .text(.unavailable, "not ready: " + causes.joined(separator: "; "))
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
            body: history.json(after: after ?? -1, causes: causes(), errors: errors())
        )
    }
}
