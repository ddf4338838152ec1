import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// Connections whose answers wait for durability.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct HeldAnswerTests {
    @Test("the service stops reading from a client while too many of its answers are held")
    func suspendsAClient() async throws {
        let budget = BufferBudget()
        try await withGatedService {
            $0.budget = budget
            $0.limits.defaultTimeoutMilliseconds = 60_000
        } _: { port, gate in
            let voter = try WireClient(port: port)
            let post = try OverloadTests.createLargePost(voter)
            let reader = try WireClient(port: port)
            gate.close()
            try voter.send(.castVote(CastVoteRequest(postID: post, direction: .up)))
            gate.awaitCommit()
            // Ends once the service reads nothing more and the kernel's buffers are full.
            let askedCount = try OverloadTests.askWithoutReading(reader, post)
            // A megabyte of held answers, the one that passed it, and unread requests.
            #expect(budget.bufferedByteCount < 2 << 20)
            gate.open()
            for id in 1...UInt64(askedCount) { #expect(try reader.receive()?.id == id) }
            #expect(try voter.receive()?.status == nil)
        }
    }

    @Test("a connection that its client ends is closed after its held answers were sent")
    func closesAfterHeldAnswers() async throws {
        try await withGatedService { port, gate in
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            gate.close()
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            for _ in 0..<100 { try client.send(vote) }
            client.socket.shutDownSending()
            gate.awaitCommit()
            gate.open()
            let answers = try client.receiveAll()
            #expect(answers.count == 100)
            #expect(answers.allSatisfy { $0.status == nil })
        }
    }

    @Test("a draining service waits for durability longer than for the rest of a frame")
    func drainsAfterHeldAnswers() async throws {
        let directory = try TemporaryDirectory()
        let gate = JournalGate()
        let clock = ManualClock()
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1)
        configuration.state = gate.state(directory, logCount: 1)
        configuration.limits.stallLimit = .seconds(3_600)
        configuration.loopClock = clock
        configuration.limits.drainTimeout = .seconds(60)
        ProcessSetup.ignoreBrokenPipes()
        let server = try FeedServer.start(
            configuration,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let port = try #require(server.addresses.first?.port)
        try await offload {
            defer { gate.open() }
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            gate.close()
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            let frame = try ClientFrame(id: client.nextID(), request: vote).encoded()
            // A vote, and a frame without its end.
            try client.socket.send(frame + frame.dropLast())
            gate.awaitCommit()
            server.beginDraining()
            clock.advance(by: .seconds(30))
            gate.open()
            let answers = try client.receiveAll()
            #expect(answers.count == 2)
            #expect(answers.first?.status == nil)
            guard case .goAway = answers.last?.response else {
                Issue.record("The last answer is GoAway: \(answers)")
                return
            }
        }
        try await offload { server.wait() }
    }
}
