internal import FeedAccounts
internal import FeedAdmin
internal import FeedConcurrency
internal import FeedJournal
internal import FeedRanking
internal import FeedState
internal import FeedTransport
internal import FoundationEssentials

/// The operator's addresses of a service (`--admin`, `--admin-tls`): they answer while the service
/// starts, serves and drains.
final class OperatorAddress: Sendable {
    /// The service, once its loops serve.
    struct Running: Sendable {
        let context: ServiceContext
        let store: FeedStore
        /// Secures connections of clients; nil without a secured address.
        let acceptor: TLSAcceptor?
        /// Whether the state is durable.
        let stateEvents: StateEvents
        let loops: [LoopMailbox]

        fileprivate var numbers: ServiceNumbers {
            ServiceNumbers(context, store, acceptor: acceptor)
        }
    }

    private let running = Lock<Running?>(nil)
    private let history = ServiceHistory()
    private let timeOfDay: @Sendable () -> Int64
    private let logOutput: OutputThread?
    private let server = Lock<AdminServer?>(nil)
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
            notLeader: { operation.context(elseSay: \.whyNotLeader) },
            notReplica: { operation.context(elseSay: \.whyNotReplica) },
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

    func attach(_ service: Running) { running.withLock { $0 = service } }

    /// Closes all connections; returns when its thread has ended.
    func stop() {
        let server = server.withLock { server in
            defer { server = nil }
            return server
        }
        server?.stop()
    }

    private func families() -> [MetricFamily] {
        let process = ProcessNumbers(isReady: causes().isEmpty, log: logOutput)
        return MetricFamily.all(of: process, running.withLock { $0 }?.numbers)
    }

    private func causes() -> [String] {
        guard let running = running.withLock({ $0 }) else { return ["recovering"] }
        if let failure = running.stateEvents.failure { return [failure] }
        return running.context.unreadyCauses
    }

    /// Asks the service why it is not something; nil if it is.
    private func context(elseSay why: (ServiceContext) -> String?) -> String? {
        guard let running = running.withLock({ $0 }) else { return "recovering" }
        return running.stateEvents.failure ?? why(running.context)
    }

    /// What the service is, for the head of the dashboard.
    private func facts() -> [String] {
        let host = ProcessInfo.processInfo.hostName
        guard let context = running.withLock({ $0 })?.context else { return [host] }
        let uptime = max(0, timeOfDay() - context.startTimeMilliseconds) / 1000
        return [
            host, "version \(ServiceVersion.current)", "up \(Self.text(seconds: uptime))",
            "durability \(context.state?.durability.rawValue ?? "none")",
        ] + (context.node?.facts(record: context.state?.journal.durableBatch ?? 0) ?? [])
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
        return Array(ServiceStatistics(loops: running.context.counters).errorCounts().prefix(10))
    }

    private func tick() {
        guard let running = running.withLock({ $0 }) else { return }
        for loop in running.loops {
            loop.post { ServiceLoop.of($0).countBusyTime() }
        }
        history.take(running.numbers, at: .now, timeOfDay())
    }
}

extension ServiceContext {
    /// Why changes are not sent here; nil if the service leads, or has no cluster.
    fileprivate var whyNotLeader: String? {
        if isDraining { return "draining" }
        guard let node, !node.isLeading else { return nil }
        return node.leader.map { "follows \($0)" } ?? "follows, and knows of no leader"
    }

    /// Why reads of a follower are not sent here; nil if it follows and has heard of its leader lately.
    fileprivate var whyNotReplica: String? {
        if isDraining { return "draining" }
        guard let node else { return "has no cluster" }
        return node.isLeading ? "leads" : node.staleness
    }

    /// Why a load balancer should send no more clients here; empty where nothing speaks against it.
    ///
    /// Refusals that last a moment do not count: too much load, and commits or checkpoints that lag.
    fileprivate var unreadyCauses: [String] {
        var causes: [String] = []
        if isDraining { causes.append("draining") }
        causes += stalls.overLimit.map { OperatorLines.stall($0.subject, $0.time, commitWait) }
        let jump = clock.jumpMilliseconds
        if jump != 0 { causes.append("the clock jumped by \(jump / 1000) s: changes are refused") }
        if let node, !node.isLeading, let cause = node.staleness { causes.append(cause) }
        guard let state else { return causes }
        if !state.journal.isWritable {
            causes.append("read-only: \(state.journal.freeByteCount) bytes are free on the disk")
        }
        if state.checkpointThread.statistics.isStalled {
            causes.append("checkpoints are stalled: state.db finds no room")
        }
        return causes
    }
}
