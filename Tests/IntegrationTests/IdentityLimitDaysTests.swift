import FeedClient
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The flags of the limits of keys and hosts, and what FeedClient makes of the answers.
@Suite(.timeLimit(.minutes(10)))
struct IdentityLimitDaysTests {
    @Test("T-LIMIT-1: FeedClient waits as long as it is told, and each vote counts once")
    func aClientWaitsAsLongAsItIsTold() async throws {
        let service = try await ServiceProcess.start([
            "--limit-loopback", "--max-votes-per-second", "50",
        ])
        var configuration = ClientConfiguration()
        configuration.clientID = ClientID()
        let client = try await FeedClient.connect(
            to: "127.0.0.1:\(service.port)",
            configuration: configuration
        )
        let post = try await client.createPost(Post(title: "Apple")).id
        let began = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await client.vote(on: post, .up) } }
            try await group.waitForAll()
        }
        // 50 at once; the others one after another, 20 ms apart.
        #expect(ContinuousClock.now - began >= .milliseconds(950))
        #expect(try await client.getPost(post).score == 100)
        await client.close()
        #expect(await service.stop() == 0)
    }

    @Test(
        "a limit that is no number, or out of range, is refused by name",
        arguments: [
            ["--max-votes-per-second", "-1"], ["--max-calls-per-second", "many"],
            ["--max-connections-each", "10000001"], ["--max-new-channels-per-minute", "0"],
            ["--max-new-devices-per-minute", "0.5"], ["--posts-from", "devices"],
            ["--max-posts-per-hour", "host=-1"], ["--max-posts-per-hour", "hosts=1"],
            ["--max-post-bytes-per-hour", "user=1KiB"], ["--max-post-memory", "4 GB"],
        ]
    )
    func refusesWrongLimits(flags: [String]) async throws {
        let process = try RunningProcess(
            Programs.feedService,
            ["--in-memory", "--listen", "127.0.0.1:0"] + flags
        )
        let (status, output) = await process.finish()
        #expect(status == 2)
        #expect(output.contains { $0.contains("\(flags[0]): expected ") }, "\(output)")
    }
}
