import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

/// The program on a data directory that a service with a wrong clock has written.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct WrongClockTests {
    private static let tenYears: Int64 = 10 * 365 * 86_400_000

    private static func now() -> Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }

    /// Creates a post in a service whose clock is ahead: in this process, whose clock can be chosen.
    private static func createPost(_ title: String, in directory: String, ahead: Int64) async throws
    {
        var configuration = ServiceConfiguration(
            addresses: [.loopback(port: 0)],
            threadCount: 1
        )
        configuration.state = StateOptions(path: directory, logCount: 1)
        configuration.timeOfDay = { now() + ahead }
        configuration.state?.unixMicroseconds = { UInt64(now() + ahead) * 1000 }
        let server = try FeedServer.start(
            configuration,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let port = try #require(server.addresses.first?.port)
        var failure: (any Error)?
        do {
            try await offload { _ = try WireClient(port: port).createPost(title: title) }
        } catch {
            failure = error
        }
        server.beginDraining()
        try await offload { server.wait() }
        if let failure { throw failure }
    }

    private static func createdNow(_ title: String, _ service: DurableService) async throws {
        let before = now()
        let id = try await service.createPost(title, votes: 1)
        let answer = try await service.call { try $0.call(.getPost(GetPostRequest(id: id))) }
        guard case .post(let post) = answer.response else { throw KillRunError.noAnswer }
        #expect((before...now()).contains(post.createTimeMilliseconds), "\(title)")
    }

    @Test(
        "T-CLOCK-3: times are right after a start in the future, and a command corrects wrong ones"
    )
    func aStartInTheFutureAndBack() async throws {
        let directory = try TemporaryDirectory()
        try await Self.createPost("wrong", in: directory.path, ahead: Self.tenYears)
        for title in ["right", "right again"] {
            let service = try await DurableService.start(directory.path)
            let warning = "1 post lies more than 300.0 seconds ahead of the clock"
            let line = await service.process.line { $0.contains(warning) }
            #expect(line?.contains("feedctl correct-times --apply") == true)
            let step = " behind the newest record of the journal: it is wrong, or it was before"
            // The second start finds the clock where the first one has left it.
            #expect(service.process.output.contains { $0.contains(step) } == (title == "right"))
            try await Self.createdNow(title, service)
            await service.kill()
        }
        let service = try await DurableService.start(directory.path)
        let target = ["--target", "127.0.0.1:\(service.port)"]
        let (listed, list) = try await FeedCtlTests.run(["correct-times"] + target)
        #expect(listed == 0 && list.contains("wrong") && list.contains("1 post ahead"), "\(list)")
        let before = Self.now()
        let (corrected, text) = try await FeedCtlTests.run(["correct-times", "--apply"] + target)
        #expect(corrected == 0 && text.contains("1 post corrected"), "\(text)")
        await service.kill()

        let restarted = try await DurableService.start(directory.path)
        #expect(!restarted.process.output.contains { $0.contains("ahead of the clock") })
        #expect(try await restarted.titles() == ["wrong", "right again", "right"])
        let answer = try await restarted.call { try $0.call(.getPost(GetPostRequest(id: 1))) }
        guard case .post(let post) = answer.response else { throw KillRunError.noAnswer }
        #expect((before...Self.now()).contains(post.createTimeMilliseconds))
        #expect(post.updateTimeMilliseconds == post.createTimeMilliseconds)
        let (_, rest) = try await FeedCtlTests.run(
            ["correct-times", "--json", "--target", "127.0.0.1:\(restarted.port)"]
        )
        #expect(rest.contains("\"post_count\" : 0"), "\(rest)")
        try await Self.createdNow("after all", restarted)
        #expect(await restarted.stop() == 0)
    }
}
