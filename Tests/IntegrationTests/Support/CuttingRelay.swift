import FeedTestSupport
import FeedTransport

/// Passes bytes between clients and a service, and cuts each connection at a random moment.
///
/// A cut falls anywhere: into a frame, between a call and its answer, or into Hello. Half of them let the
/// bytes before them arrive, the others do not.
final class CuttingRelay: Sendable {
    /// How often the relay has cut, and who waits for that.
    private struct Cuts {
        var count = 0
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    /// Where clients connect to.
    let address: String

    private let thread: EventLoopThread
    private let cuts: Locked<Cuts>

    private init(_ address: String, _ thread: EventLoopThread, _ cuts: Locked<Cuts>) {
        self.address = address
        self.thread = thread
        self.cuts = cuts
    }

    /// Starts a relay to a port of the loopback address; no connection passes more than `byteLimit` bytes.
    static func start(
        to port: UInt16,
        seed: UInt64,
        byteLimit: Int = 4_000
    ) async throws -> CuttingRelay {
        let cuts = Locked(Cuts())
        let held = Locked<EventLoopThread?>(nil)
        let address: SocketAddress = try await withCheckedThrowingContinuation { continuation in
            do {
                let thread = try EventLoopThread(
                    name: "relay",
                    configuration: TransportConfiguration(),
                    budget: BufferBudget()
                ) { loop in
                    loop.context = RelayRandom(seed, byteLimit)
                    continuation.resume(
                        with: Result {
                            try TCPListener(
                                at: .loopback(port: 0),
                                on: loop,
                                targets: [loop.mailbox]
                            ) { connection in
                                guard let random = connection.loop.context as? RelayRandom else {
                                    preconditionFailure("A relay's loop has its random numbers.")
                                }
                                let relayed = Relayed(random) { noteCut(cuts) }
                                relayed.client.connection = connection
                                relayed.connect(to: port, on: connection.loop)
                                return relayed.client
                            }.address
                        }
                    )
                }
                held.withLock { $0 = thread }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard let thread = held.withLock({ $0 }) else { throw TransportError.loopStopped }
        return CuttingRelay(address.description, thread, cuts)
    }

    /// Waits until the relay has cut so often in all.
    func waitForCuts(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = cuts.withLock { cuts in
                if cuts.count >= count { return true }
                cuts.waiter = (count, continuation)
                return false
            }
            if isReached { continuation.resume() }
        }
    }

    /// Ends the relay with all of its connections.
    func stop() async {
        thread.stop()
        await withCheckedContinuation { continuation in
            thread.whenFinished { continuation.resume() }
        }
    }

    private static func noteCut(_ cuts: Locked<Cuts>) {
        cuts.withLock { cuts in
            cuts.count += 1
            guard let waiter = cuts.waiter, cuts.count >= waiter.count else { return }
            cuts.waiter = nil
            waiter.continuation.resume()
        }
    }
}

/// The random numbers of a relay, bound to its loop.
private final class RelayRandom {
    var generator: SeededGenerator
    let byteLimit: Int

    init(_ seed: UInt64, _ byteLimit: Int) {
        self.byteLimit = byteLimit
        generator = SeededGenerator(seed: seed)
    }
}

/// A connection of a client and the one of the service behind it.
private final class Relayed {
    let client = RelaySide()
    private let service = RelaySide()
    private let random: RelayRandom
    private let didCut: () -> Void
    /// The bytes that still pass.
    private var byteCount: Int
    private var isCut = false

    init(_ random: RelayRandom, _ didCut: @escaping () -> Void) {
        self.random = random
        self.didCut = didCut
        // A few fall into Hello, most some tens of votes behind it.
        byteCount =
            Int.random(in: 0..<8, using: &random.generator) == 0
            ? .random(in: 1..<200, using: &random.generator)
            : .random(in: 200..<random.byteLimit, using: &random.generator)
        client.relayed = self
        service.relayed = self
        client.other = service
        service.other = client
    }

    func connect(to port: UInt16, on loop: EventLoop) {
        do {
            try loop.connect(to: .loopback(port: port), timeout: .seconds(60), handler: service)
        } catch {
            client.connection?.reset()
        }
    }

    /// Passes bytes on, or a part of them and cuts.
    func pass(_ bytes: RawSpan, to other: RelaySide) {
        guard !isCut else { return }
        guard bytes.byteCount >= byteCount else {
            byteCount -= bytes.byteCount
            other.connection?.write(bytes)
            return
        }
        isCut = true
        other.connection?.write(bytes.extracting(first: byteCount))
        if Bool.random(using: &random.generator) {
            client.connection?.closeAfterFlush()
            service.connection?.closeAfterFlush()
        } else {
            client.connection?.reset()
            service.connection?.reset()
        }
        didCut()
    }
}

/// One side of a connection through the relay.
private final class RelaySide: ConnectionHandler {
    var connection: TCPConnection?
    var relayed: Relayed?
    weak var other: RelaySide?

    func connectionOpened(_ connection: TCPConnection) {
        self.connection = connection
        // What the client has said before waits.
        other?.connection?.requestIteration()
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        guard let other, other.connection != nil else { return ReadProgress(consumedByteCount: 0) }
        relayed?.pass(bytes, to: other)
        return ReadProgress(consumedByteCount: bytes.byteCount)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
        other?.connection?.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        self.connection = nil
        other?.connection?.closeAfterFlush()
        relayed = nil
    }
}
