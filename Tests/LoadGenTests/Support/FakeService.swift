import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// A service on a port of its own that serves one fake feed from one loop.
final class FakeService: Sendable {
    let feed: FakeFeed
    let address: SocketAddress
    private let thread: Locked<EventLoopThread>

    private init(_ feed: FakeFeed, _ address: SocketAddress, _ thread: EventLoopThread) {
        self.feed = feed
        self.address = address
        self.thread = Locked(thread)
    }

    /// Starts a service and waits until it listens.
    static func start(
        _ faults: FakeFaults = FakeFaults(),
        voteMode: VoteMode = .tally
    ) async throws -> FakeService {
        let feed = FakeFeed(faults: faults, voteMode: voteMode)
        guard faults.restarts else {
            let (address, thread) = try await listen(.loopback(port: 0), feed)
            return FakeService(feed, address, thread)
        }
        let port = try ReservedPort()
        let (address, thread) = try await listen(.loopback(port: port.number), feed)
        let service = FakeService(feed, address, thread)
        service.restartOnce(thread, port)
        return service
    }

    /// Starts a service anew that has what another one had.
    static func start(serving feed: FakeFeed) async throws -> FakeService {
        feed.restart()
        let (address, thread) = try await listen(.loopback(port: 0), feed)
        return FakeService(feed, address, thread)
    }

    /// Stops the service and waits for its end.
    func stop() async {
        let thread = thread.withLock { $0 }
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    /// Starts the service again at its port once its thread has ended.
    private func restartOnce(_ dead: EventLoopThread, _ port: ReservedPort) {
        dead.whenFinished { [self] in
            feed.restart()
            Task {
                do {
                    let thread = try await Self.listenAgain(.loopback(port: port.number), feed)
                    self.thread.withLock { $0 = thread }
                } catch {
                    Issue.record(error, "The fake service did not start again.")
                }
            }
        }
    }

    /// Listens where a listener was just closed.
    ///
    /// A process that some test starts meanwhile has copies of all sockets until it runs its program,
    /// the closed one among them. The port is in use until then.
    private static func listenAgain(
        _ address: SocketAddress,
        _ feed: FakeFeed
    ) async throws -> EventLoopThread {
        for _ in 1..<10_000 {
            do {
                return try await listen(address, feed).1
            } catch TransportError.addressInUse {
                await Task.yield()
            }
        }
        return try await listen(address, feed).1
    }

    private static func listen(
        _ address: SocketAddress,
        _ feed: FakeFeed
    ) async throws -> (SocketAddress, EventLoopThread) {
        let held = Locked<EventLoopThread?>(nil)
        var isListening = false
        defer { if !isListening { held.withLock { $0 }?.stop() } }
        let address: SocketAddress = try await withCheckedThrowingContinuation { continuation in
            do {
                let thread = try EventLoopThread(
                    name: "fake-service",
                    configuration: TransportConfiguration(),
                    budget: BufferBudget()
                ) { loop in
                    continuation.resume(
                        with: Result {
                            try TCPListener(at: address, on: loop, targets: [loop.mailbox]) {
                                FakeHandler(feed, $0)
                            }.address
                        }
                    )
                }
                held.withLock { $0 = thread }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard let thread = held.withLock({ $0 }) else { throw TransportError.timedOut }
        isListening = true
        return (address, thread)
    }
}

/// One connection of the fake service.
private final class FakeHandler: ConnectionHandler {
    private let feed: FakeFeed
    private let loop: EventLoop
    private var channel: FakeChannels.Key?
    private var decoder = MessageDecoder()
    private var encoder = FrameEncoder()
    private var isStalled = false
    /// The answer that comes after the refusal of the next vote.
    private var passed: ServerFrame?
    private var isLost = false

    init(_ feed: FakeFeed, _ connection: TCPConnection) {
        self.feed = feed
        loop = connection.loop
    }

    func connectionOpened(_ connection: TCPConnection) {}

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let received = FakeFeed.now
        var offset = 0
        do {
            while !isStalled, !isLost,
                let body = try FrameScanner().nextBody(in: bytes, at: offset)
            {
                offset = body.upperBound
                let frame = try decoder.decodeClientFrame(bytes.extracting(body))
                if case .hello(let hello) = frame.request {
                    channel = FakeChannels.Key(clientID: hello.clientID, channel: hello.channel)
                }
                if let passed, case .castVote = frame.request {
                    self.passed = nil
                    let refusal = FakeFeed.failure(
                        frame.id,
                        .unavailable,
                        .overloaded,
                        isNotExecuted: true
                    )
                    try encoder.append(refusal)
                    try encoder.append(passed)
                    continue
                }
                try perform(feed.handle(frame, on: channel, receivedAt: received), connection)
            }
        } catch {
            connection.reset()
        }
        flush(connection)
        if isLost { connection.closeAfterFlush() }
        return ReadProgress(consumedByteCount: isLost ? bytes.byteCount : offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) { feed.lost(channel) }

    private func flush(_ connection: TCPConnection) {
        var bytes: [UInt8] = []
        encoder.withBytes { bytes.append(copying: $0) }
        connection.write(feed.sent(bytes))
        encoder.removeAll()
    }

    private func perform(_ action: FakeFeed.Action, _ connection: TCPConnection) throws {
        switch action {
        case .silence: break
        case .answerAfterNext(let frame): passed = frame
        case .answer(let frame): try encoder.append(frame)
        case .lose: isLost = true
        case .die:
            isLost = true
            loop.stop()
        case .answerHalf(let frame):
            flush(connection)
            try encoder.append(frame)
            encoder.withBytes { connection.write($0.extracting(first: $0.byteCount / 2)) }
            encoder.removeAll()
            isLost = true
        case .answerAndLeave(let frame):
            try encoder.append(frame)
            let goAway = GoAway(lastID: frame.id, drainMilliseconds: 1000, reason: .draining)
            try encoder.append(ServerFrame(id: 0, revision: 0, response: .goAway(goAway)))
            isLost = true
        case .answerAndStall(let frame):
            // Everything behind this answer waits, on this connection, until the timer fires.
            try encoder.append(frame)
            isStalled = true
            try loop.addTimer(after: feed.faults.stall) {
                self.isStalled = false
                connection.requestIteration()
            }
        }
    }
}
