internal import FeedAdmin
internal import FeedConcurrency
internal import FeedTransport

/// The operator's address of a service (`--admin`): it answers while the service starts, serves and
/// drains.
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
    private let server = Lock<AdminServer?>(nil)

    private init(timeOfDay: @escaping @Sendable () -> Int64) { self.timeOfDay = timeOfDay }

    /// Listens at an address, for a service that is about to start.
    static func start(
        at address: SocketAddress,
        timeOfDay: @escaping @Sendable () -> Int64
    ) throws(TransportError) -> OperatorAddress {
        let operation = OperatorAddress(timeOfDay: timeOfDay)
        var pages = AdminPages(
            metrics: { operation.families() },
            causes: { operation.causes() },
            history: operation.history.history,
            errors: { operation.errors() }
        )
        pages.requiresLoopbackHost = address.isLoopback
        let server = try AdminServer.start(at: address, pages) { operation.tick() }
        operation.server.withLock { $0 = server }
        return operation
    }

    /// The address, with the port that the system gave.
    var address: SocketAddress? { server.withLock { $0?.address } }

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
        let service = running.withLock { $0 }?.metrics.families() ?? []
        return [isReady] + service + ProcessUsage().families()
    }

    private func causes() -> [String] {
        guard let running = running.withLock({ $0 }) else { return ["recovering"] }
        guard !running.stateEvents.hasFailed else {
            return ["failing: the state can no more be made durable"]
        }
        return running.metrics.context.unreadyCauses
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
