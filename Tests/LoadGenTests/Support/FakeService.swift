import FeedProto
import FeedTransport
import Synchronization

/// A service on a port of its own that serves one fake feed from one loop.
final class FakeService: Sendable {
    let feed: FakeFeed
    let address: SocketAddress
    private let thread: EventLoopThread

    private init(_ feed: FakeFeed, _ address: SocketAddress, _ thread: EventLoopThread) {
        self.feed = feed
        self.address = address
        self.thread = thread
    }

    /// Starts a service and waits until it listens.
    static func start(
        _ faults: FakeFeed.Faults = FakeFeed.Faults(),
        voteMode: VoteMode = .tally
    ) async throws -> FakeService {
        let feed = FakeFeed(faults: faults, voteMode: voteMode)
        let held = Mutex<EventLoopThread?>(nil)
        let address: SocketAddress = try await withCheckedThrowingContinuation { continuation in
            do {
                let thread = try EventLoopThread(
                    name: "fake-service",
                    configuration: TransportConfiguration(),
                    budget: BufferBudget()
                ) { loop in
                    continuation.resume(with: Result { try listen(on: loop, feed) })
                }
                held.withLock { $0 = thread }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard let thread = held.withLock({ $0 }) else { throw TransportError.timedOut }
        return FakeService(feed, address, thread)
    }

    /// Stops the service and waits for its end.
    func stop() async {
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    private static func listen(on loop: EventLoop, _ feed: FakeFeed) throws -> SocketAddress {
        let listener = try TCPListener(
            at: .loopback(port: 0),
            on: loop,
            targets: [loop.mailbox]
        ) { connection in
            FakeHandler(feed, connection)
        }
        return listener.address
    }
}

/// One connection of the fake service.
private final class FakeHandler: ConnectionHandler {
    private let feed: FakeFeed
    private let loop: EventLoop
    private var decoder = MessageDecoder()
    private var encoder = FrameEncoder()
    private var isStalled = false

    init(_ feed: FakeFeed, _ connection: TCPConnection) {
        self.feed = feed
        loop = connection.loop
    }

    func connectionOpened(_ connection: TCPConnection) {}

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do {
            while !isStalled, let body = try FrameScanner().nextBody(in: bytes, at: offset) {
                offset = body.upperBound
                let frame = try decoder.decodeClientFrame(bytes.extracting(body))
                try perform(feed.handle(frame), connection)
            }
        } catch {
            connection.reset()
        }
        encoder.withBytes { connection.write($0) }
        encoder.removeAll()
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {}

    private func perform(_ action: FakeFeed.Action, _ connection: TCPConnection) throws {
        switch action {
        case .silence: break
        case .answer(let frame): try encoder.append(frame)
        case .die: loop.stop()
        case .answerAndStall(let frame):
            // Everything behind this answer waits, on this connection, until the timer fires.
            try encoder.append(frame)
            isStalled = true
            try loop.addTimer(after: .milliseconds(300)) {
                self.isStalled = false
                connection.requestTurn()
            }
        }
    }
}
