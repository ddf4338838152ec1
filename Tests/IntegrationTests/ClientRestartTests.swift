import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// FeedClient through the ends of a real service on one port and one data directory.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct ClientRestartTests {
    /// How the votes on one post ended.
    struct Tally: Sendable {
        var acknowledgedCount = 0
        /// Votes that may have been counted.
        var unknownCount = 0
        /// Votes that were not counted.
        var failedCount = 0
    }

    /// A service that is ended and started again while a client votes on its posts.
    struct Storm {
        static let taskCount = 6

        let directory: TemporaryDirectory
        let port: ReservedPort
        let progress = Progress()

        init() throws {
            directory = try TemporaryDirectory()
            port = try ReservedPort()
        }

        func start() async throws -> DurableService {
            try await DurableService.start(directory.path, ["--listen", port.address])
        }

        func connect(hasID: Bool) async throws -> FeedClient {
            var configuration = ClientConfiguration()
            configuration.clientID = hasID ? ClientID() : nil
            configuration.timeout = .seconds(90)
            return try await FeedClient.connect(to: port.address, configuration: configuration)
        }

        /// Votes on a post one after another, until `isOver`.
        static func vote(
            on post: PostID,
            _ client: FeedClient,
            _ progress: Progress,
            until isOver: Locked<Bool>
        ) async -> Tally {
            var tally = Tally()
            while !isOver.withLock({ $0 }) {
                do throws(FeedClientError) {
                    try await client.vote(on: post, .up)
                    tally.acknowledgedCount += 1
                    progress.advance()
                } catch {
                    if error.effect == .none {
                        tally.failedCount += 1
                    } else {
                        tally.unknownCount += 1
                    }
                }
            }
            return tally
        }
    }

    /// How many votes were acknowledged, to be waited for.
    final class Progress: Sendable {
        private struct State {
            var count = 0
            var waiter: (end: Int, continuation: CheckedContinuation<Void, Never>)?
        }

        private let state = Locked(State())

        func advance() {
            state.withLock { state in
                state.count += 1
                guard let waiter = state.waiter, state.count >= waiter.end else { return }
                state.waiter = nil
                waiter.continuation.resume()
            }
        }

        /// Waits until so many votes more are acknowledged.
        func wait(for count: Int) async {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiter = ($0.count + count, continuation) }
            }
        }
    }

    /// Votes from several tasks while the service ends in different ways; returns what came of the
    /// votes on each post, beside the count that the service has.
    static func storm(
        hasID: Bool,
        _ ends: [RestartTests.End]
    ) async throws -> [(tally: Tally, count: UInt64)] {
        let storm = try Storm()
        var service = try await storm.start()
        let client = try await storm.connect(hasID: hasID)
        var posts: [PostID] = []
        for number in 0..<Storm.taskCount {
            posts.append(try await client.createPost(PostDraft(title: "\(number)")).id)
        }
        let isOver = Locked(false)
        let progress = storm.progress
        return try await withThrowingTaskGroup(of: (PostID, Tally).self) { group in
            for post in posts {
                group.addTask {
                    (post, await Storm.vote(on: post, client, progress, until: isOver))
                }
            }
            for end in ends {
                await progress.wait(for: 50)
                await RestartTests.end(service, end)
                service = try await storm.start()
            }
            await progress.wait(for: 50)
            isOver.withLock { $0 = true }
            var results: [(tally: Tally, count: UInt64)] = []
            for try await (post, tally) in group {
                results.append((tally, try await service.upvotes(post)))
            }
            await client.close()
            #expect(await service.stop() == 0)
            return results
        }
    }

    @Test(
        "votes with a number are counted once, and each is acknowledged",
        arguments: RestartTests.End.allCases
    )
    func countsNumberedVotesOnce(end: RestartTests.End) async throws {
        for (tally, count) in try await Self.storm(hasID: true, [end, end, end]) {
            #expect(count == UInt64(tally.acknowledgedCount))
            #expect(tally.unknownCount == 0)
            #expect(tally.failedCount == 0)
        }
    }

    @Test("votes without a number are counted at most once, and the client says which may be")
    func countsVotesWithoutANumberAtMostOnce() async throws {
        for (tally, count) in try await Self.storm(hasID: false, [.killed, .killed]) {
            #expect(count >= UInt64(tally.acknowledgedCount))
            #expect(count <= UInt64(tally.acknowledgedCount + tally.unknownCount))
        }
    }

    @Test func aPatientClientWaitsForItsService() async throws {
        let storm = try Storm()
        var configuration = ClientConfiguration()
        configuration.waitsForService = true
        configuration.connectTimeout = .seconds(90)
        let connecting = Task { [address = storm.port.address, configuration] in
            try await FeedClient.connect(to: address, configuration: configuration)
        }
        let service = try await storm.start()
        let client = try await connecting.value
        #expect(client.service != nil)
        await client.close()
        #expect(await service.stop() == 0)
    }

    @Test func aReadWaitsForTheServiceToComeBack() async throws {
        let storm = try Storm()
        let first = try await storm.start()
        let client = try await storm.connect(hasID: false)
        await first.kill()
        async let reading = client.feeds()
        let second = try await storm.start()
        #expect(try await reading.count == 2)
        await client.close()
        #expect(await second.stop() == 0)
    }
}

/// FeedClient over connections that break at random moments, to a service that is killed.
///
/// `FEED_CONNECTION_LOSSES` is how many connections break, one kill for each hundred of them. Soak runs
/// have more than the tests.
@Suite(.serialized, .timeLimit(.minutes(30)), DurableService.needed) struct ClientLossTests {
    private static let taskCount = 8

    private static func configuration() -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.clientID = ClientID()
        configuration.connectionCount = 2
        configuration.timeout = .seconds(300)
        configuration.connectTimeout = .seconds(60)
        configuration.waitsForService = true
        // No vote is given up: each has to be counted.
        configuration.retry.maximumAttemptCount = .max
        configuration.retry.budgetRatio = 1_000
        configuration.retry.maximumDelay = .milliseconds(100)
        return configuration
    }

    @Test(
        "votes are counted once, and each is acknowledged",
        arguments: TestEnvironment.seeds(1...1)
    )
    func countsEachVoteOnce(seed: UInt64) async throws {
        let lossCount = TestEnvironment.number("FEED_CONNECTION_LOSSES").map { Int($0) } ?? 30
        let killCount = max(1, lossCount / 100)
        let directory = try TemporaryDirectory()
        let port = try ReservedPort()
        var service = try await DurableService.start(directory.path, ["--listen", port.address])
        let relay = try await CuttingRelay.start(to: port.number, seed: seed)
        let client = try await FeedClient.connect(
            to: relay.address,
            configuration: Self.configuration()
        )
        var posts: [PostID] = []
        for number in 0..<Self.taskCount {
            posts.append(try await client.createPost(PostDraft(title: "\(number)")).id)
        }
        let isOver = Locked(false)
        try await withThrowingTaskGroup(of: (PostID, UInt64).self) { group in
            for post in posts {
                group.addTask {
                    var count: UInt64 = 0
                    while !isOver.withLock({ $0 }) {
                        // An error is one that the client reports wrongly: every vote can be counted.
                        try await client.vote(on: post, .up)
                        count += 1
                    }
                    return (post, count)
                }
            }
            for kill in 1...killCount {
                await relay.waitForCuts(kill * lossCount / (killCount + 1))
                await service.kill()
                service = try await DurableService.start(
                    directory.path,
                    ["--listen", port.address]
                )
            }
            await relay.waitForCuts(lossCount)
            isOver.withLock { $0 = true }
            for try await (post, count) in group {
                #expect(try await service.upvotes(post) == count, "seed \(seed)")
                #expect(count > 0, "seed \(seed)")
            }
        }
        let retries = try #require(await client.history()).retries
        #expect(retries.reconnectCount > 0 && retries.retryCount > 0, "seed \(seed)")
        await client.close()
        await relay.stop()
        #expect(await service.stop() == 0)
    }
}

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
