import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// FeedClient through the ends of a real service on one port and one data directory.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct ClientRestartTests {
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
            on post: UInt64,
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
        var posts: [UInt64] = []
        for number in 0..<Storm.taskCount {
            posts.append(try await client.createPost(Post(title: "\(number)")).id)
        }
        let isOver = Locked(false)
        let progress = storm.progress
        return try await withThrowingTaskGroup(of: (UInt64, Tally).self) { group in
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
        #expect(client.service.instanceID > 0)
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
