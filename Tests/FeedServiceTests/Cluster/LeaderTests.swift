import FakeReplica
import FeedProto
import FeedReplica
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What a service answers while it leads its cluster, and once it does not any more.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LeaderTests {
    private static func vote(_ id: PostID) -> Request {
        .castVote(CastVoteRequest(postID: id, direction: .up))
    }

    private static func upvotes(_ answer: ServerFrame?) throws -> UInt64? {
        guard case .castVote(let counts) = answer?.response else { throw Unexpected(answer) }
        return counts.upvoteCount
    }

    @Test func aLeaderTakesChangesAndSaysSo() async throws {
        let service = try await ClusterService(leads: true)
        try await service.run { running in
            try running.awaitLeadership()
            let (client, hello) = try running.greet()
            #expect(hello.role == .leader)
            #expect(hello.channelStatus == nil)
            let id = try client.createPost(title: "a")
            #expect(try Self.upvotes(client.call(Self.vote(id), sequence: 1)) == 1)
            #expect(try Self.upvotes(client.call(Self.vote(id), sequence: 1)) == 1)
            #expect(try client.post(id).upvoteCount == 1)
        }
    }

    /// The cluster is of an earlier release, and one of its services is, too.
    @Test func changesOfAccountsWaitForTheLastService() async throws {
        let service = try await ClusterService(leads: true, level: 1)
        service.cluster.setMember(9, isThere: true)
        try await service.run {
            CountedPasswords().install(&$0)
        } _: { running in
            try running.awaitLeadership()
            let client = try running.connect()
            #expect(try client.signUp("a@x").status == nil)
            let password = ChangePasswordRequest(password: "password", newPassword: "another one")
            let email = ChangeEmailRequest(password: "password", email: "b@x")
            let suspend = ChangeUserRequest(userID: 1, change: .suspend)
            let reset = MakePasswordResetRequest(userID: 1)
            for request in [
                .changePassword(password), .changeEmail(email), .changeUser(suspend),
                .makePasswordReset(reset),
            ] as [Request] {
                let status = try client.call(request).status
                #expect(status?.code == .unavailable && status?.reason == .clusterUpgrading)
                #expect(status?.isNotExecuted == true && status?.retryAfterMilliseconds == 10_000)
            }
            // What earlier releases log is taken.
            let sessions = ChangeUserRequest(userID: 1, change: .endSessions)
            #expect(try client.refusal(.changeUser(sessions)) == nil)
            #expect(try client.signIn("a@x").status == nil)
            service.cluster.setMember(9, isThere: false)
            while try client.refusal(.changePassword(password)) == .clusterUpgrading {}
            #expect(try client.signIn("a@x", password: "another one").status == nil)
        }
    }

    @Test("a read is answered once the replica says that the service still led after it")
    func aReadWaitsForItsProof() async throws {
        let service = try await ClusterService(leads: true)
        try await service.run { running in
            try running.awaitLeadership()
            let client = try running.connect()
            let id = try client.createPost(title: "a")
            service.cluster.holdReads()
            try client.send(.getPost(GetPostRequest(id: id)))
            #expect(service.cluster.awaitRead())
            #expect(client.socket.receiveWithoutWaiting().isEmpty)
            service.cluster.answerReads()
            guard case .post(let post) = try client.receive()?.response else {
                throw Unexpected("no post")
            }
            #expect(post.id == id)
        }
    }

    @Test("the commit of a batch that was proposed later proves a read")
    func aLaterCommitProvesARead() async throws {
        let service = try await ClusterService(leads: true)
        try await service.run { running in
            try running.awaitLeadership()
            let reader = try running.connect()
            let voter = try running.connect()
            let id = try voter.createPost(title: "a")
            service.cluster.holdReads()
            try reader.send(.getPost(GetPostRequest(id: id)))
            #expect(service.cluster.awaitRead())
            #expect(reader.socket.receiveWithoutWaiting().isEmpty)
            // Its own answer needs a proof, too, if the batch was taken before the answer was held.
            try voter.send(Self.vote(id))
            guard case .post(let post) = try reader.receive()?.response else {
                throw Unexpected("no post")
            }
            // It was executed before the vote.
            #expect(post.upvoteCount == 0)
        }
    }

    @Test("a deposed leader answers nothing that it holds, says where the leader is, and ends")
    func aDeposedLeaderEnds() async throws {
        let service = try await ClusterService(leads: true)
        let log = LoggedLines()
        try await service.run(logger: log.logger) { running in
            try running.awaitLeadership()
            let voter = try running.connect()
            let reader = try running.connect()
            let id = try voter.createPost(title: "a")
            service.cluster.holdReads()
            try reader.send(.getPost(GetPostRequest(id: id)))
            #expect(service.cluster.awaitRead())
            service.cluster.hold()
            let next = service.cluster.last + 1
            try voter.send(Self.vote(id))
            #expect(service.cluster.awaitProposal(next))
            service.cluster.depose(dropping: true)
            #expect(running.awaitEnd() == 75)
            for (client, lastID) in [(voter, 2), (reader, 1)] as [(WireClient, UInt64)] {
                let frames = try client.receiveAll()
                #expect(frames.count == 1)
                guard case .goAway(let goAway) = frames.first?.response else {
                    throw Unexpected(frames)
                }
                #expect(frames.first?.id == 0)
                #expect(goAway.reason == .notLeader)
                #expect(goAway.lastID == lastID)
                #expect(goAway.leader == "")
            }
        }
        #expect(log.all.contains("notice: leads the cluster, in term 1: changes are taken"))
        let end = "notice: stopped: this node does not lead any more"
        #expect(log.all.filter { $0.hasPrefix(end) }.count == 1, "\(log.all)")
    }

    @Test("a commit that no majority confirms is told as that, and not as a disk that hangs")
    func aCommitWithoutAMajoritySaysSo() async throws {
        let service = try await ClusterService(leads: true)
        let log = LoggedLines()
        let record = Locked<UInt64>(0)
        try await service.run(logger: log.logger) {
            $0.admin = .loopback(port: 0)
            $0.limits.stallLimit = .seconds(3)
        } _: { running in
            try running.awaitLeadership()
            let voter = try running.connect()
            let reader = try running.connect()
            let id = try voter.createPost(title: "a")
            service.cluster.hold()
            let next = service.cluster.last + 1
            record.withLock { $0 = next }
            try voter.send(Self.vote(id))
            #expect(service.cluster.awaitProposal(next))
            // It is held, and refused once the commit has stood still for three seconds.
            let status = try reader.call(.getPost(GetPostRequest(id: id))).status
            #expect(status?.code == .unavailable && status?.reason == .overloaded)
            #expect(status?.isNotExecuted == true)
            let words = "o majority of the cluster has confirmed record \(next) for "
            #expect(status?.message.contains(words) == true, "\(status?.message ?? "")")
            let admin = try #require(running.adminPort)
            let page = try OperatorAddressTests.get("/ready", admin)
            #expect(page.contains("not ready: no majority has confirmed record \(next) for "))
            service.cluster.release()
            #expect(try Self.upvotes(voter.receive()) == 1)
        }
        let line = "error: no majority has confirmed record \(record.withLock { $0 }) for "
        let lines = log.all.filter { $0.hasPrefix(line) }
        #expect(lines.count == 1 && lines[0].hasSuffix(" s: see feedctl cluster status"))
        #expect(log.all.contains { $0.hasPrefix("notice: commits go on, after ") })
    }

    @Test("a service that takes over has the channels of the log, and executes nothing twice")
    func aRepeatIsKnownAfterATakeover() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let post = try service.other.createPost(title: "a")
            try service.other.castVote(post.id, sequence: 1)
            try running.awaitPost(post.id)
            let (early, hello) = try running.greet()
            #expect(hello.channelStatus?.reason == .notLeader)
            #expect(try early.call(Self.vote(post.id), sequence: 1).status?.reason == .notLeader)
            service.cluster.elect(1)
            try running.awaitLeadership()
            // Its Hello got no channel.
            let status = try early.call(Self.vote(post.id), sequence: 1).status
            #expect(status?.reason == .notLeader)
            #expect(status?.leader == ClusterService.address)
            #expect(status?.isNotExecuted == true)
            let (client, again) = try running.greet()
            #expect(again.channelStatus == nil)
            #expect((again.isClientKnown, again.lastSequence) == (true, 1))
            #expect(try Self.upvotes(client.call(Self.vote(post.id), sequence: 1)) == 1)
            #expect(try Self.upvotes(client.call(Self.vote(post.id), sequence: 2)) == 2)
            #expect(try client.createPost(title: "b") > post.id)
        }
    }

    @Test func theOperatorsAddressSaysWhoLeads() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run {
            $0.admin = .loopback(port: 0)
            $0.limits.maximumStaleness = .seconds(3_600)
        } _: { running in
            let admin = try #require(running.adminPort)
            func awaitPage(_ path: String, _ end: String) throws -> String {
                while true {
                    let answer = try OperatorAddressTests.get(path, admin)
                    if answer.hasSuffix("\r\n\r\n\(end)\n") { return answer }
                }
            }
            #expect(try awaitPage("/replica", "replica").hasPrefix("HTTP/1.1 200"))
            let follows = "not leader: follows, and knows of no leader"
            #expect(try awaitPage("/leader", follows).hasPrefix("HTTP/1.1 503"))
            #expect(try OperatorAddressTests.value("feed_cluster_leads", admin) == 0)
            service.cluster.elect(1)
            #expect(try awaitPage("/leader", "leader").hasPrefix("HTTP/1.1 200"))
            #expect(try awaitPage("/replica", "not replica: leads").hasPrefix("HTTP/1.1 503"))
            #expect(try OperatorAddressTests.value("feed_cluster_leads", admin) == 1)
            #expect(try OperatorAddressTests.value("feed_cluster_term", admin) == 2)
            #expect(try OperatorAddressTests.value("feed_cluster_has_leader", admin) == 1)
            // The replica says once a second whom it knows.
            let member = "n1 \(ClusterService.address) (leads)"
            var page = ""
            while !page.contains(member) { page = try OperatorAddressTests.get("/history", admin) }
            #expect(page.contains("\"leads term 2\""), "\(page)")
        }
    }
}

/// What held answers wait for.
@Suite struct AnswerConditionTests {
    @Test func ofOneMachineIsTheCommitBatch() {
        let condition = AnswerCondition(7)
        #expect(!condition.holds(6, .max))
        #expect(condition.holds(7, 0))
    }

    @Test func ofALeaderIsTheBatchAndAProof() {
        var condition = AnswerCondition(7)
        condition.round = 3
        condition.provingBatch = 8
        #expect(!condition.holds(7, 2))
        #expect(!condition.holds(6, 3))
        #expect(condition.holds(7, 3))
        #expect(condition.holds(8, 0))
        // Nothing asked for a round: the open batch has to be committed.
        condition.round = 0
        #expect(!condition.holds(7, .max))
    }
}
