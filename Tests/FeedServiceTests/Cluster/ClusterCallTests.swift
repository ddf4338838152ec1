import FakeReplica
import FeedProto
import FeedReplica
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Testing

/// What operators are answered about a cluster.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ClusterCallTests {
    private static func status(
        _ client: WireClient,
        record: UInt64 = 0
    ) throws -> ClusterStatus {
        let answer = try client.call(.clusterStatus(ClusterStatusRequest(record: record)))
        guard case .clusterStatus(let status) = answer.response else { throw Unexpected(answer) }
        #expect(answer.revision == 0)
        return status
    }

    private static func change(
        _ client: WireClient,
        _ request: ChangeMembersRequest
    ) throws -> Result<ChangeMembersResponse, Status> {
        let answer = try client.call(.changeMembers(request))
        if let status = answer.status { return .failure(status) }
        guard case .changeMembers(let change) = answer.response else { throw Unexpected(answer) }
        return .success(change)
    }

    @Test func aLeaderHasAStatusWithTheChainsOfItsRecords() async throws {
        let service = try await ClusterService(leads: true)
        try await service.run { running in
            try running.awaitLeadership()
            let client = try running.connect()
            _ = try client.createPost(title: "a")
            let status = try Self.status(client)
            #expect((status.role, status.node) == ("leader", "0000000000000001"))
            #expect((status.leader, status.term) == (status.node, service.cluster.term))
            #expect(status.heardAgeMilliseconds == -1)
            let member = try #require(status.members.first)
            #expect((member.name, member.address) == ("n1", ClusterService.address))
            #expect(member.isVoter && member.isConnected)
            #expect((member.lowestLevel, member.highestLevel) == (1, 2))
            #expect(status.record > 0 && status.record <= service.cluster.committed)
            let same = try Self.status(client, record: status.record)
            #expect((same.record, same.chain) == (status.record, status.chain))
            let unknown = try Self.status(client, record: 1 << 60)
            #expect((unknown.record, unknown.chain) == (0, 0))
        }
    }

    @Test func aFollowerHasAStatusAlsoWithoutALeader() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let client = try running.connect()
            #expect(try Self.status(client).role == "follower")
            service.cluster.elect(0)
            var status = try Self.status(client)
            while status.role != "searching" { status = try Self.status(client) }
            #expect(status.leader == "")
        }
    }

    @Test func aServiceThatIsGoneAndANodeThatIsNotThereAreSaid() throws {
        let member = """
            "name":"b","url":"https://b:1","voter":true,"match":7,"state":"replicate","lag_bytes":512,\
            "lag_seconds":2,"service_age_seconds":0.5,"service":{"address":"b:2","lowest_level":1,\
            "highest_level":1
            """
        let document = """
            {"node":"01","name":"a","cluster":"","role":"leader","term":2,"leader":"01","first":1,"last":9,\
            "committed":9,"durable":9,"log_bytes":1,"heard_age_seconds":-1,"copies":0,"members":[\
            {"node":"02","connected":true,\(member)}},{"node":"03","connected":true,\(member),"gone":true}},\
            {"node":"04","connected":false,\(member)}}]}
            """
        let status = ClusterStatus(try #require(ReplicaStatus(json: Array(document.utf8))))
        #expect(status.members.map(\.isServiceGone) == [false, true, false])
        #expect(status.members.map(\.lagByteCount) == [512, 512, 0])
        #expect(status.members.map(\.lagMilliseconds) == [2_000, 2_000, 0])
    }

    @Test func membersAreAddedAndRemoved() async throws {
        let service = try await ClusterService(leads: true)
        try await service.run { running in
            try running.awaitLeadership()
            let client = try running.connect()
            let added = try Self.change(
                client,
                ChangeMembersRequest(addName: "b", addURL: "https://b:1")
            )
            let node = "0000000000000002"
            #expect(try added.get() == ChangeMembersResponse(node: node, token: "token of 2"))
            let remove = ChangeMembersRequest(removeNode: node)
            let removed = try Self.change(client, remove)
            #expect(try removed.get() == ChangeMembersResponse(node: node, token: ""))
            guard case .failure(let status) = try Self.change(client, remove) else {
                throw Unexpected("removed twice")
            }
            #expect((status.code, status.reason) == (.failedPrecondition, .replicaRefused))
            #expect(status.message == "The cluster refuses it: the change cannot be.")
            #expect(status.isNotExecuted)
        }
    }

    @Test(
        "T-CALL-19: a change that names no node rightly is refused",
        arguments: [
            ("add_name", ChangeMembersRequest()),
            ("add_url", ChangeMembersRequest(addName: "b")),
            ("add_name", ChangeMembersRequest(addURL: "https://b:1")),
            ("add_name", ChangeMembersRequest(addName: "b\nhttps://c:1", addURL: "https://b:1")),
            ("add_url", ChangeMembersRequest(addName: "b", addURL: "https://b:1\n")),
            (
                "add_url",
                ChangeMembersRequest(addName: "b", addURL: String(repeating: "u", count: 4_096))
            ),
            ("add_name", ChangeMembersRequest(addName: "b", removeNode: "0000000000000001")),
            ("remove_node", ChangeMembersRequest(removeNode: "1")),
            ("remove_node", ChangeMembersRequest(removeNode: "+000000000000001")),
            ("remove_node", ChangeMembersRequest(removeNode: "0000000000000000")),
        ]
    )
    func aWrongChangeIsRefused(field: String, request: ChangeMembersRequest) async throws {
        let service = try await ClusterService(leads: true)
        try await service.run { running in
            try running.awaitLeadership()
            guard case .failure(let status) = try Self.change(running.connect(), request) else {
                throw Unexpected("taken")
            }
            #expect((status.code, status.reason) == (.invalidArgument, .badField))
            #expect(status.violations.map(\.field) == [field])
        }
    }

    @Test("a transfer that is taken is answered though the leader ends, and its clients are told")
    func aTransferIsAnswered() async throws {
        let service = try await ClusterService(leads: true)
        let other = try FakeReplica(in: service.cluster, node: 2)
        try other.start()
        defer { other.stop() }
        try await service.run { running in
            try running.awaitLeadership()
            let client = try running.connect()
            let refused = try client.call(.transferLeadership(TransferLeadershipRequest()))
            #expect(refused.status?.reason == .replicaRefused)
            let bad = try client.call(
                .transferLeadership(TransferLeadershipRequest(node: "2"))
            )
            #expect(bad.status?.violations.map(\.field) == ["node"])
            let hello = ReplicaHello(
                applied: service.cluster.committed,
                levels: 1...1,
                cluster: service.cluster.id,
                address: "there:1"
            )
            let follower = try ReplicaConnection(connectingTo: other.socketPath)
            follower.send(.hello(hello))
            let wakeUp = try ReplicaWakeUp()
            while service.cluster.hello(of: 2) == nil {
                try follower.wait(upTo: .milliseconds(1), orWake: wakeUp)
            }
            try client.send(.transferLeadership(TransferLeadershipRequest()))
            let frames = try client.receiveAll()
            #expect(frames.first?.response == .empty)
            guard case .goAway(let goAway) = frames.last?.response else {
                throw Unexpected(frames)
            }
            #expect(goAway.reason == .notLeader)
            #expect(running.awaitEnd() == 75)
        }
    }

    @Test("T-CALL-19: a replica that is gone is said")
    func aReplicaThatIsGoneIsSaid() async throws {
        let service = try await ClusterService(leads: false)
        try await service.run { running in
            let client = try running.connect()
            service.replica.stop()
            var status: Status?
            while status == nil {
                status = try client.call(.clusterStatus(ClusterStatusRequest())).status
            }
            #expect((status?.code, status?.reason) == (.unavailable, .replicaSilent))
            #expect(status?.isNotExecuted == true)
        }
    }

    @Test func aServiceOfOneMachineSaysSo() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for request in [
                .clusterStatus(ClusterStatusRequest()),
                .changeMembers(ChangeMembersRequest(addName: "b", addURL: "https://b:1")),
                .transferLeadership(TransferLeadershipRequest()),
            ] as [Request] {
                let status = try client.call(request).status
                #expect((status?.code, status?.reason) == (.failedPrecondition, .noCluster))
            }
        }
    }
}
