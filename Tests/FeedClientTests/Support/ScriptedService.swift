import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// A service that handles each call as a test asks: the misbehaving peer of a client.
final class ScriptedService: Sendable {
    enum Step: Sendable {
        case answer(ServerFrame)
        case bytes([UInt8])
        case endOutput
        case reset
    }

    /// What it does with each call but Hello, which it answers by itself unless `answersHello` is
    /// false.
    typealias Script = @Sendable (ClientFrame) -> [Step]

    let address: String
    /// Every frame that came, Hello too, in order; it ends with the first connection that ends.
    let received: AsyncStream<ClientFrame>
    private let thread: EventLoopThread

    private init(_ address: String, _ received: AsyncStream<ClientFrame>, _ thread: EventLoopThread)
    {
        self.address = address
        self.received = received
        self.thread = thread
    }

    /// Starts a service that says it takes so many calls in flight.
    static func start(
        inFlight: UInt32 = 256,
        answersHello: Bool = true,
        _ script: @escaping Script
    ) async throws -> ScriptedService {
        let (frames, log) = AsyncStream<ClientFrame>.makeStream()
        let withHello: Script = { frame in
            guard answersHello, case .hello = frame.request else { return script(frame) }
            return [
                .answer(ServerFrame(id: frame.id, revision: 0, response: hello(inFlight: inFlight)))
            ]
        }
        let held = Locked<EventLoopThread?>(nil)
        let address: SocketAddress = try await withCheckedThrowingContinuation { continuation in
            do {
                let thread = try EventLoopThread(
                    name: "scripted",
                    configuration: TransportConfiguration(),
                    budget: BufferBudget()
                ) { loop in
                    continuation.resume(with: Result { try listen(on: loop, log, withHello) })
                }
                held.withLock { $0 = thread }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard let thread = held.withLock({ $0 }) else { throw TransportError.loopStopped }
        return ScriptedService(address.description, frames, thread)
    }

    func stop() async {
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    private static func listen(
        on loop: EventLoop,
        _ log: AsyncStream<ClientFrame>.Continuation,
        _ script: @escaping Script
    ) throws -> SocketAddress {
        try TCPListener(at: .loopback(port: 0), on: loop, targets: [loop.mailbox]) { _ in
            ScriptedHandler(log, script)
        }.address
    }

    static func hello(inFlight: UInt32, frameByteCount: UInt32 = 1 << 20) -> Response {
        .hello(
            HelloResponse(
                serverName: "scripted",
                instanceID: 1,
                serverTimeMilliseconds: 0,
                limits: Limits(
                    maximumFrameByteCount: frameByteCount,
                    maximumInFlightCount: inFlight,
                    defaultPageSize: 20,
                    maximumPageSize: 100,
                    maximumBatchGetCount: 100,
                    maximumBatchVoteCount: 256,
                    maximumTimeoutMilliseconds: 60_000,
                    idleTimeoutMilliseconds: 90_000,
                    sequenceWindow: 256,
                    maximumImportPostCount: 256
                )
            )
        )
    }
}

private final class ScriptedHandler: ConnectionHandler {
    private let log: AsyncStream<ClientFrame>.Continuation
    private let script: ScriptedService.Script
    private var decoder = MessageDecoder()

    init(_ log: AsyncStream<ClientFrame>.Continuation, _ script: @escaping ScriptedService.Script) {
        self.log = log
        self.script = script
    }

    func connectionOpened(_ connection: TCPConnection) {}

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do {
            while connection.isOpen, let body = try FrameScanner().nextBody(in: bytes, at: offset) {
                offset = body.upperBound
                let frame = try decoder.decodeClientFrame(bytes.extracting(body))
                for step in script(frame) { try perform(step, connection) }
                log.yield(frame)
            }
        } catch {
            connection.reset()
        }
        return ReadProgress(consumedByteCount: connection.isOpen ? offset : bytes.byteCount)
    }

    func connectionEndedInput(_ connection: TCPConnection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) { log.finish() }

    private func perform(_ step: ScriptedService.Step, _ connection: TCPConnection) throws {
        switch step {
        case .answer(let frame): connection.write(try frame.encoded())
        case .bytes(let bytes): connection.write(bytes)
        case .endOutput: connection.closeAfterFlush()
        case .reset: connection.reset()
        }
    }
}

/// Runs a scripted service and a client of it while `body` runs.
func withScript(
    inFlight: UInt32 = 256,
    answersHello: Bool = true,
    configuration: ClientConfiguration = .patient,
    _ script: @escaping ScriptedService.Script,
    _ body: (FeedClient, ScriptedService) async throws -> Void
) async throws {
    let service = try await ScriptedService.start(
        inFlight: inFlight,
        answersHello: answersHello,
        script
    )
    var failure: (any Error)?
    do {
        let client = try await FeedClient.connect(to: service.address, configuration: configuration)
        do { try await body(client, service) } catch { failure = error }
        await client.close()
    } catch {
        failure = error
    }
    await service.stop()
    if let failure { throw failure }
}

let silence: ScriptedService.Script = { _ in [] }

/// Answers a vote with its post and a score of 1.
func voteAnswer(_ frame: ClientFrame) -> ScriptedService.Step {
    guard case .castVote(let vote) = frame.request else { return .reset }
    let counts = CastVoteResponse(postID: vote.postID, score: 1, upvoteCount: 1, downvoteCount: 0)
    return .answer(ServerFrame(id: frame.id, revision: 1, response: .castVote(counts)))
}

func postAnswer(_ frame: ClientFrame) -> ScriptedService.Step {
    guard case .getPost(let request) = frame.request else { return .reset }
    return .answer(ServerFrame(id: frame.id, revision: 1, response: .post(Post(id: request.id))))
}

/// How a call ends: its error, or nil where it is answered.
func failure<Value>(_ call: () async throws -> Value) async -> FeedClientError? {
    do {
        _ = try await call()
        return nil
    } catch {
        if !(error is FeedClientError) { Issue.record(error) }
        return error as? FeedClientError
    }
}
