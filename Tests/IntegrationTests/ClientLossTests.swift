import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// FeedClient over connections that break at random moments, to a service that is killed.
///
/// `FEED_CONNECTION_LOSSES` is how many connections break, one kill for each hundred of them. Soak runs
/// have more than the tests.
@Suite(
    .serialized,
    .timeLimit(.minutes(30)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct ClientLossTests {
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
        var posts: [UInt64] = []
        for number in 0..<Self.taskCount {
            posts.append(try await client.createPost(Post(title: "\(number)")).id)
        }
        let isOver = Locked(false)
        try await withThrowingTaskGroup(of: (UInt64, UInt64).self) { group in
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
