import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// A client of services that say they are a cluster, over real connections.
@Suite(.timeLimit(.minutes(10))) struct ClusterTests {
    /// One of the services; what it is may change while it runs.
    private final class Peer: Sendable {
        struct Part {
            var role = NodeRole.follower
            var leader = ""
            var members: [String] = []
            /// Whether it answers nothing but Hello.
            var isSilent = false
            var frames: [ClientFrame] = []
        }

        let part = Locked(Part())
        let service: ScriptedService

        var address: String { service.address }
        var votes: [ClientFrame] {
            part.withLock {
                $0.frames.filter { if case .castVote = $0.request { true } else { false } }
            }
        }

        init() async throws {
            service = try await ScriptedService.start(answersHello: false) { [part] frame in
                part.withLock { Self.steps(&$0, frame) }
            }
        }

        private static func steps(
            _ part: inout Part,
            _ frame: ClientFrame
        ) -> [ScriptedService.Step] {
            part.frames.append(frame)
            let notLeader = Status.notLeader(part.leader)
            switch frame.request {
            case .hello:
                let isLeader = part.role == .leader
                let hello = SessionHarness.hello(
                    isKnown: true,
                    capabilities: isLeader ? [.exactlyOnce] : [],
                    channelStatus: isLeader ? nil : notLeader,
                    role: part.role,
                    members: part.members.map { ClusterMember(address: $0) }
                )
                return [.answer(ServerFrame(id: frame.id, revision: 0, response: hello))]
            case _ where part.isSilent: return []
            case .castVote where part.role == .leader: return [voteAnswer(frame)]
            case .castVote:
                return [.answer(ServerFrame(id: frame.id, revision: 1, status: notLeader))]
            case .getPost: return [postAnswer(frame)]
            default: return [.answer(ServerFrame(id: frame.id, revision: 1, response: .empty))]
            }
        }

        func change(_ body: (inout Part) -> Void) { part.withLock { body(&$0) } }
    }

    private func withPeers(_ count: Int, _ body: ([Peer]) async throws -> Void) async throws {
        var peers: [Peer] = []
        for _ in 0..<count { peers.append(try await Peer()) }
        var failure: (any Error)?
        do { try await body(peers) } catch { failure = error }
        for peer in peers { await peer.service.stop() }
        if let failure { throw failure }
    }

    private static func configuration(hasID: Bool = true) -> ClientConfiguration {
        var configuration = ClientConfiguration.patient
        configuration.clientID = hasID ? ClientID() : nil
        configuration.silence = .seconds(600)
        return configuration
    }

    @Test func findsTheLeaderAmongItsAddresses() async throws {
        try await withPeers(3) { peers in
            peers[2].change { $0.role = .leader }
            let client = try await FeedClient.connect(
                to: peers.map(\.address),
                configuration: Self.configuration()
            )
            try await client.vote(on: 1, .up)
            #expect(client.service?.role == .leader)
            // Another one leads: it is named, and found.
            peers[0].change { $0.role = .leader }
            peers[2].change {
                $0.role = .follower
                $0.leader = peers[0].address
            }
            try await client.vote(on: 2, .up)
            #expect(peers.map(\.votes.count) == [1, 0, 2])
            #expect(peers[0].votes.map(\.sequence) == [2])
            await client.close()
        }
    }

    @Test func findsTheLeaderAmongTheMembers() async throws {
        try await withPeers(2) { peers in
            peers[1].change { $0.role = .leader }
            peers[0].change {
                $0.members = peers.map(\.address)
                $0.leader = peers[1].address
            }
            let client = try await FeedClient.connect(
                to: peers[0].address,
                configuration: Self.configuration()
            )
            try await client.vote(on: 1, .up)
            #expect(peers.map(\.votes.count) == [0, 1])
            await client.close()
        }
    }

    @Test("a leader that is neither an address of the program nor a member is not connected to")
    func connectsToNoOtherAddress() async throws {
        try await withPeers(3) { peers in
            peers[2].change { $0.role = .leader }
            for peer in peers.dropLast() { peer.change { $0.leader = peers[2].address } }
            let error = await failure {
                try await FeedClient.connect(
                    to: peers.dropLast().map(\.address),
                    configuration: Self.configuration()
                )
            }
            guard case .refused(let status) = error else { throw Unexpected(error) }
            #expect(status.reason == .notLeader)
            #expect(peers[2].part.withLock { $0.frames.isEmpty })
        }
    }

    @Test(
        "whatever a service names as the leader, the client goes on with its own addresses",
        arguments: ["self", "nonsense", "", "127.0.0.1:1", String(repeating: "x", count: 4_096)]
    )
    func survivesHostileLeaders(text: String) async throws {
        try await withPeers(2) { peers in
            peers[1].change { $0.role = .leader }
            peers[0].change {
                $0.leader = text == "self" ? peers[0].address : text
                $0.members = [text, text + ":1"]
            }
            let client = try await FeedClient.connect(
                to: peers.map(\.address),
                configuration: Self.configuration()
            )
            try await client.vote(on: 1, .up)
            #expect(peers.map(\.votes.count) == [0, 1])
            await client.close()
        }
    }

    @Test func leavesASilentLeader() async throws {
        try await withPeers(2) { peers in
            peers[0].change {
                $0.role = .leader
                $0.isSilent = true
            }
            peers[1].change { $0.role = .leader }
            var configuration = Self.configuration()
            configuration.silence = .seconds(1)
            let client = try await FeedClient.connect(
                to: peers.map(\.address),
                configuration: configuration
            )
            try await client.vote(on: 1, .up)
            #expect(peers[1].votes.count == 1)
            #expect(peers.flatMap { $0.votes.map(\.sequence) }.allSatisfy { $0 == 1 })
            await client.close()
        }
    }

    @Test func followersAreReadWhereTheProgramAsks() async throws {
        try await withPeers(2) { peers in
            peers[1].change { $0.role = .leader }
            peers[0].change { $0.leader = peers[1].address }
            var configuration = Self.configuration(hasID: false)
            configuration.reads = .any
            let client = try await FeedClient.connect(
                to: peers.map(\.address),
                configuration: configuration
            )
            #expect(client.service?.role == .follower)
            #expect(try await client.getPost(5).id == 5)
            #expect(peers[1].part.withLock { $0.frames.isEmpty })
            try await client.vote(on: 1, .up)
            #expect(peers.map(\.votes.count) == [0, 1])
            await client.close()
        }
    }
}
