internal import FeedAccounts
internal import FeedAdmin
internal import FeedConcurrency
internal import FeedJournal
internal import FeedState
internal import FeedTransport
internal import FoundationEssentials

/// The operator's addresses of a service (`--admin`, `--admin-tls`): they answer while the service
/// starts, serves and drains.
final class OperatorAddress: Sendable {
    /// The service, once its loops serve.
    private struct Running {
        let metrics: ServiceMetrics
        let stateEvents: StateEvents
        let loops: [LoopMailbox]
    }

    private let running = Lock<Running?>(nil)
    private let history = ServiceHistory()
    private let timeOfDay: @Sendable () -> Int64
    private let logOutput: OutputThread?
    private let server = Lock<AdminServer?>(nil)
    /// Secures the connections of the address with TLS; nil if there is none.
    let acceptor: TLSAcceptor?

    private init(_ configuration: ServiceConfiguration, _ acceptor: TLSAcceptor?) {
        self.acceptor = acceptor
        timeOfDay = configuration.timeOfDay
        logOutput = configuration.logOutput
    }

    /// Listens at the addresses of a service that is about to start; nil if it has none.
    static func start(
        _ configuration: ServiceConfiguration
    ) throws(TransportError) -> OperatorAddress? {
        let doors = doors(configuration)
        guard !doors.isEmpty else { return nil }
        let operation = OperatorAddress(configuration, doors.last?.security)
        let pages = AdminPages(
            metrics: { operation.families() },
            causes: { operation.causes() },
            history: operation.history.history,
            facts: { operation.facts() },
            errors: { operation.errors() }
        )
        let server = try AdminServer.start(at: doors, pages) { operation.tick() }
        operation.server.withLock { $0 = server }
        return operation
    }

    /// The plain address, and the one with TLS behind it.
    private static func doors(_ configuration: ServiceConfiguration) -> [AdminDoor] {
        var doors = configuration.admin.map { [AdminDoor($0)] } ?? []
        if let admin = configuration.tls?.admin {
            let keys = configuration.serviceKeys
            doors.append(
                AdminDoor(admin.address, security: TLSAcceptor(admin.context)) {
                    admits($0, $1, keys)
                }
            )
        }
        return doors
    }

    /// The plain address, with the port that the system gave; nil if there is none.
    var address: SocketAddress? { acceptor == nil || addresses.count > 1 ? addresses.first : nil }

    /// The address with TLS; nil if there is none.
    var tlsAddress: SocketAddress? { acceptor == nil ? nil : addresses.last }

    private var addresses: [SocketAddress] { server.withLock { $0?.addresses } ?? [] }

    /// Whether a request shows a service key, or a certificate, that may read all pages.
    ///
    /// The certificate is one of a line of the keys; without keys it is any that the authority has signed.
    private static func admits(
        _ request: HTTPRequest,
        _ connection: TCPConnection,
        _ keys: ServiceKeys?
    ) -> Bool {
        let identities = connection.peerIdentities
        guard let keys else { return !identities.isEmpty }
        if let role = keys.find(identities)?.shown.role, role != .app { return true }
        guard let bytes = Hexadecimal.bytes(request.bearer),
            let secret = SessionToken(bytes: bytes), let found = keys.find(secret.hash)
        else { return false }
        return found.shown.role != .app
    }

    /// From now on the pages are of this service.
    func attach(
        _ metrics: ServiceMetrics,
        _ stateEvents: StateEvents,
        _ loops: [LoopMailbox]
    ) {
        running.withLock {
            $0 = Running(metrics: metrics, stateEvents: stateEvents, loops: loops)
        }
    }

    /// Closes all connections; returns when its thread has ended.
    func stop() {
        let server = server.withLock { server in
            defer { server = nil }
            return server
        }
        server?.stop()
    }

    private func families() -> [MetricFamily] {
        let isReady = MetricFamily.flag(
            "feed_ready",
            "Whether the service takes clients: 0 while it recovers, drains, refuses changes or fails.",
            causes().isEmpty
        )
        let leftOutLines = MetricFamily.counter(
            "feed_log_left_out_lines",
            "Lines of the log that were left out because standard error was not read.",
            logOutput?.leftOutCount ?? 0
        )
        let waiting = MetricFamily.seconds(
            "feed_log_waiting_seconds",
            "How long lines of the log have waited for the reader of standard error.",
            (logOutput?.waitingTime(at: .now) ?? .zero) / .seconds(1)
        )
        let service = running.withLock { $0 }?.metrics.families() ?? []
        return [isReady, leftOutLines, waiting] + service + ProcessUsage().families()
    }

    private func causes() -> [String] {
        guard let running = running.withLock({ $0 }) else { return ["recovering"] }
        guard !running.stateEvents.hasFailed else {
            return ["failing: the state can no more be made durable"]
        }
        return running.metrics.context.unreadyCauses
    }

    /// What the service is, for the head of the dashboard.
    private func facts() -> [String] {
        let host = ProcessInfo.processInfo.hostName
        guard let context = running.withLock({ $0 })?.metrics.context else { return [host] }
        let uptime = max(0, timeOfDay() - context.startTimeMilliseconds) / 1000
        return [
            host, "version \(ServiceVersion.current)", "up \(Self.text(seconds: uptime))",
            "durability \(context.state?.durability.rawValue ?? "none")",
        ]
    }

    private static func text(seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    /// The ten most frequent errors.
    private func errors() -> [(reason: String, count: UInt64)] {
        guard let running = running.withLock({ $0 }) else { return [] }
        return Array(running.metrics.statistics.errorCounts().prefix(10))
    }

    private func tick() {
        guard let running = running.withLock({ $0 }) else { return }
        for loop in running.loops {
            loop.post { ServiceLoop.of($0).countBusyTime() }
        }
        history.take(running.metrics, at: .now, timeOfDay())
    }
}
