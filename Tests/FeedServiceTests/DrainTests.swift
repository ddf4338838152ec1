import Dispatch
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Testing

/// The clients' view of a service that stops while they vote.
@Suite(.timeLimit(.minutes(10))) struct DrainTests {
    /// The answers that one client got.
    struct Seen: Sendable {
        var sentCount: UInt64 = 0
        var answeredIDs: [UInt64] = []
        var goAway: GoAway?
        var isResetOrCut = false
    }

    @Test(
        "T-RUN-5: answers every executed vote, says GoAway, and resets no client",
        arguments: [1, 2]
    )
    func losesNoAnsweredVote(threads: Int) async throws {
        var configuration = ServiceConfiguration(
            addresses: [.loopback(port: 0)],
            threadCount: threads
        )
        configuration.limits.drainTimeout = .seconds(10)
        let server = try FeedServer.startQuietly(configuration)
        let port = try #require(server.addresses.first?.port)
        let post = try await offload { try WireClient(port: port).createPost(title: "drained") }
        let running = Running()
        let clients = (0..<20).map { _ in
            Task { try await offload { Self.voteUntilGoAway(port, post, running) } }
        }
        // Every client is in the middle of its votes when the service is told to stop.
        try await offload {
            running.wait(for: 20)
            server.beginDraining()
            server.wait()
        }
        for client in clients {
            let seen = try await client.value
            let goAway = try #require(seen.goAway)
            #expect(!seen.isResetOrCut)
            #expect(seen.answeredIDs == Array(1...goAway.lastID))
            #expect(goAway.reason == .draining)
            #expect(goAway.lastID <= seen.sentCount)
        }
    }

    /// Counts the clients that are in the middle of their votes.
    final class Running: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func add() { semaphore.signal() }

        func wait(for count: Int) { for _ in 0..<count { semaphore.wait() } }
    }

    /// Votes with 64 in flight until the service says GoAway, then receives the rest.
    static func voteUntilGoAway(_ port: UInt16, _ post: PostID, _ running: Running) -> Seen {
        var seen = Seen()
        do {
            let client = try WireClient(port: port)
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            for _ in 0..<64 { seen.sentCount = try client.send(vote) }
            while seen.goAway == nil {
                guard let frame = try client.receive() else { break }
                if case .goAway(let goAway) = frame.response {
                    seen.goAway = goAway
                } else {
                    seen.answeredIDs.append(frame.id)
                    if seen.answeredIDs.count == 1000 { running.add() }
                    seen.sentCount = try client.send(vote)
                }
            }
            client.socket.shutDownSending()
            seen.isResetOrCut = try !client.receiveAll().isEmpty
        } catch {
            seen.isResetOrCut = true
        }
        return seen
    }

    @Test("T-RUN-5: closes idle connections with GoAway, and takes no new ones")
    func closesIdleConnections() async throws {
        let reserved = try ReservedPort()
        let port = reserved.number
        let server = try FeedServer.startQuietly(
            ServiceConfiguration(addresses: [.loopback(port: port)], threadCount: 2)
        )
        let clients = try await offload {
            try (0..<10).map { _ in
                let client = try WireClient(port: port)
                _ = try client.call(.ping(PingRequest()))
                return client
            }
        }
        server.beginDraining()
        try await offload {
            for client in clients {
                let frames = try client.receiveAll()
                #expect(frames.count == 1)
                guard case .goAway(let goAway) = frames.first?.response
                else { throw Unexpected("An idle connection gets GoAway.") }
                #expect(goAway.lastID == 1)
                client.socket.close()
            }
            server.wait()
            #expect(throws: TestSocket.Failure.self) { try TestSocket(port: reserved.number) }
        }
    }

    @Test("T-RUN-5: a connection that is closing already ends with its client")
    func endsAConnectionThatIsClosingAlready() async throws {
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1)
        // No deadline ends the connection in place of its client.
        configuration.loopClock = ManualClock()
        let server = try FeedServer.startQuietly(configuration)
        let port = try #require(server.addresses.first?.port)
        let (closing, other) = try await offload {
            let closing = try WireClient(port: port)
            try closing.socket.send([0xff, 0xff, 0xff, 0xff])
            #expect(try closing.receiveAll().map(\.status?.reason) == [.badFrame])
            let other = try WireClient(port: port)
            _ = try other.call(.ping(PingRequest()))
            return (closing, other)
        }
        server.beginDraining()
        try await offload {
            // Its GoAway shows that the loop has told all of its connections.
            let frames = try other.receiveAll()
            #expect(frames.count == 1)
            other.socket.close()
            closing.socket.close()
            server.wait()
        }
    }

    @Test("T-DIR-1: another service may have the directory as soon as the first one has ended")
    func leavesTheDirectoryUnlocked() async throws {
        let directory = try TemporaryDirectory()
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1)
        configuration.state = StateOptions(path: directory.path, logCount: 1)
        var servers: [FeedServer] = []
        for _ in 0..<3 {
            let server = try FeedServer.startQuietly(configuration)
            // Those that have ended stay in memory: not the last reference unlocks the directory.
            servers.append(server)
            try await server.drain()
        }
        #expect(servers.count == 3)
    }
}
