internal import FeedClientTransport
internal import FeedConcurrency
internal import FeedNetwork
internal import FeedProto
internal import Synchronization

/// The connections of a client, which one thread runs.
///
/// Each has a channel of its own, and a call stays with its connection: it is sent again under its
/// sequence on the same channel. What a caller does in order goes over the first connection: sign-ins,
/// what depends on the caller's last change, and rare calls. The rest takes turns.
final class LinkPool: Sendable {
    private let loop: ClientLoop
    private let links: [Link]
    let knowledge: ClientKnowledge
    private let turn = Atomic<UInt>(0)
    private let endpoints: [Endpoint]
    private let configuration: ClientConfiguration
    /// What ends sessions that could not be ended at once.
    private let endings = Lock<[Task<Void, Never>]>([])

    /// Starts the thread; each connection opens with its first call.
    init(
        to endpoints: [Endpoint],
        _ configuration: ClientConfiguration,
        _ knowledge: ClientKnowledge
    ) throws(TransportError) {
        let count = max(1, configuration.connectionCount)
        let inboxes = (0..<count).map { _ in CallInbox() }
        let loop = try ClientLoop(to: endpoints, configuration, inboxes, knowledge)
        self.loop = loop
        self.knowledge = knowledge
        self.configuration = configuration
        self.endpoints = endpoints
        links = inboxes.enumerated().map { Link(loop, $0.offset, $0.element) }
    }

    var first: Link { links[0] }

    var executor: LoopExecutor { loop.executor }

    func link(for request: Request) -> Link {
        guard links.count > 1, request.takesTurns else { return links[0] }
        let number = turn.wrappingAdd(1, ordering: .relaxed).newValue
        return links[Int(number % UInt(links.count))]
    }

    /// Lets the other connections follow a sign-in or a sign-out on the first one.
    func adopt(sessionToken token: [UInt8]) {
        for link in links.dropFirst() { link.adopt(sessionToken: token) }
    }

    /// Ends a session over a connection of its own, once the service can be reached: in a day at most, and
    /// before the client is closed.
    func endLater(sessionToken token: [UInt8]) {
        var configuration = configuration
        configuration.sessionToken = Secret(bytes: token)
        // The client's channel is not this connection's.
        configuration.clientID = nil
        configuration.connectionCount = 1
        let ending = Task { [endpoints, configuration] in
            let knowledge = ClientKnowledge(token: nil, userID: nil)
            guard let links = try? LinkPool(to: endpoints, configuration, knowledge) else { return }
            await links.endSession(configuration.retry)
            await links.close()
        }
        endings.withLock { $0.append(ending) }
    }

    /// Signs out, again and again while the cause of a failure may pass, for a day.
    private func endSession(_ policy: RetryPolicy) async {
        let limit = TimeLimit(.seconds(86_400))
        let backoff = Backoff(policy)
        var generator = SystemRandomNumberGenerator()
        var round = 0
        while limit.spent < limit.timeout {
            do throws(FeedClientError) {
                _ = try await first.call(
                    .signOut(SignOutRequest()),
                    minimumRevision: 0,
                    actingUserID: 0,
                    timeout: limit.timeout - limit.spent
                )
                return
            } catch {
                round += 1
                let jitter = backoff.delay(round: round, using: &generator)
                let delay = (error.retryAfter ?? .zero) + jitter
                guard error.mayPass, (try? await Task.sleep(for: delay)) != nil else { return }
            }
        }
    }

    private func cancelEndings() {
        for ending in endings.withLock({ $0 }) { ending.cancel() }
    }

    func history() async -> ConnectionHistory? {
        var sum = RetryCounts()
        var isConnected = false
        var instanceID: UInt64?
        for link in links {
            guard let history = await link.history() else { return nil }
            sum.add(history.retries)
            isConnected = isConnected || history.isConnected
            instanceID = instanceID ?? history.instanceID
        }
        return ConnectionHistory(retries: sum, instanceID: instanceID, isConnected: isConnected)
    }

    deinit { cancelEndings() }

    func close() async {
        cancelEndings()
        await loop.close()
        knowledge.user.finish()
    }
}

extension FeedClientError {
    /// Whether a sign-out that is made later may be answered; the second one of a session does nothing.
    var mayPass: Bool {
        switch self {
        case .cannotConnect, .unknownHost, .connectionLost, .deadlinePassed: true
        case .refused(let status): status.ofCall(effect: .none).isTemporary
        default: false
        }
    }
}

extension Request {
    /// Whether the call may go over any connection: its answer is the same over each.
    fileprivate var takesTurns: Bool {
        switch self {
        case .castVote, .batchCastVotes, .getPost, .batchGetPosts, .getPostRank: true
        // A stable page shows the last change of its own connection.
        case .listPosts(let request): request.consistency != .stable
        default: false
        }
    }
}

/// The thread of a client, and the drivers of its connections; any task may hold it.
final class ClientLoop: Sendable {
    private let thread: Transport.LoopThread
    let executor: LoopExecutor

    /// Starts a thread with a driver for each inbox.
    init(
        to endpoints: [Endpoint],
        _ configuration: ClientConfiguration,
        _ inboxes: [CallInbox],
        _ knowledge: ClientKnowledge
    ) throws(TransportError) {
        thread = try Transport.LoopThread(name: "feed-client", limits: .client) { loop in
            loop.context = Drivers(
                inboxes.enumerated().map { place, inbox in
                    SessionDriver(
                        loop,
                        to: endpoints,
                        configuration,
                        inbox,
                        knowledge,
                        place: place
                    )
                }
            )
        }
        executor = LoopExecutor(thread.mailbox)
    }

    deinit { thread.stop() }

    /// Runs work with a driver; false if the thread has ended, or is about to.
    @discardableResult
    func post(to place: Int, _ work: @escaping @Sendable (SessionDriver) -> Void) -> Bool {
        thread.mailbox.post { work(SessionDriver.of($0, place)) }
    }

    /// Finishes the calls in flight, closes all connections and waits for the thread's end.
    func close() async {
        thread.mailbox.post { loop in
            for driver in Drivers.of(loop).all { driver.close() }
        }
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }
}

/// The drivers of a loop, which stops when the last one has finished.
final class Drivers {
    let all: [SessionDriver]
    private var runningCount: Int

    init(_ drivers: [SessionDriver]) {
        all = drivers
        runningCount = drivers.count
    }

    static func of(_ loop: Transport.Loop) -> Drivers {
        guard let drivers = loop.context as? Drivers else {
            preconditionFailure("A client's loop has its drivers from its start.")
        }
        return drivers
    }

    /// A driver has finished, once; true if it was the last one.
    func finishOne() -> Bool {
        runningCount -= 1
        return runningCount == 0
    }
}

@available(*, unavailable)
extension Drivers: Sendable {}

extension ClientByteLimits {
    /// A frame and its header; and more unsent bytes than the driver lets wait.
    fileprivate static let client = Self(
        unconsumed: Link.frameByteCounts.upperBound + FrameHeader.byteCount,
        unsent: WireConnection.maximumUnsentByteCount + 2 * Link.frameByteCounts.upperBound
    )
}
