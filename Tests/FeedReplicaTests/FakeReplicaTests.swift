import FakeReplica
import FeedConcurrency
import FeedReplica
import FeedTestSupport
import Testing

/// A replica for tests keeps the contract of docs/REPLICA.md, and sees who does not.
@Suite(.timeLimit(.minutes(10))) struct FakeReplicaTests {
    /// A service without a state, which a test moves word by word.
    private final class Service {
        let connection: ReplicaConnection
        let cluster: FakeCluster
        private let wakeUp: ReplicaWakeUp
        /// The records that it was told.
        var log: [UInt64: [UInt8]] = [:]
        /// What it has proposed, and was not told to be committed.
        var proposed: [UInt64: [UInt8]] = [:]
        var last: UInt64 = 0

        init(_ replica: FakeReplica, applied: UInt64 = 0) throws {
            connection = try ReplicaConnection(connectingTo: replica.socketPath)
            wakeUp = try ReplicaWakeUp()
            cluster = replica.cluster
            last = applied
            connection.send(
                .hello(
                    ReplicaHello(
                        applied: applied,
                        levels: 1...1,
                        cluster: cluster.id,
                        address: "s\(replica.node):1"
                    )
                )
            )
        }

        /// The next word that is no HEARD.
        func next() throws -> ReplicaWord {
            while true {
                guard let word = try connection.receive() else {
                    try connection.wait(upTo: .seconds(3_600), orWake: wakeUp)
                    continue
                }
                if case .heard = word { continue }
                try take(word)
                return word
            }
        }

        private func take(_ word: ReplicaWord) throws {
            switch word {
            case .entry(let index, _, _, let body):
                try #require(index == last + 1)
                log[index] = body
                last = index
            case .committed(_, let index):
                try #require(index > last)
                while last < index {
                    last += 1
                    guard let body = proposed.removeValue(forKey: last) else {
                        throw Unexpected(word)
                    }
                    log[last] = body
                }
            default: break
            }
        }

        /// Takes words until the node leads, and gives the term and the next index.
        func untilItLeads() throws -> (term: UInt64, next: UInt64) {
            while true {
                if case .role(let role) = try next(), role.leads {
                    #expect(last == role.index)
                    return (role.term, role.index + 1)
                }
            }
        }

        func propose(_ term: UInt64, _ index: UInt64, _ body: [UInt8]) {
            proposed[index] = body
            connection.send(.propose(term: term, index: index), body: body.span)
        }
    }

    private static func started(
        _ cluster: FakeCluster = FakeCluster(),
        node: UInt64 = 1
    ) throws -> FakeReplica {
        let replica = try FakeReplica(in: cluster, node: node)
        try replica.start()
        return replica
    }

    @Test func commitsWhatALeaderProposes() throws {
        let replica = try Self.started(FakeCluster(behind: 40))
        let service = try Service(replica, applied: 40)
        let welcome = ReplicaWelcome(
            node: 1,
            term: 1,
            leader: 1,
            committed: 41,
            last: 41,
            cluster: replica.cluster.id
        )
        #expect(try service.next() == .welcome(welcome))
        #expect(try service.next() == .entry(index: 41, term: 1, .leaderBegins, body: []))
        let role = ReplicaRole(leads: true, term: 1, leader: 1, index: 41)
        #expect(try service.next() == .role(role))
        service.propose(1, 42, [1, 2])
        #expect(try service.next() == .committed(term: 1, index: 42))
        service.connection.send(.read(7))
        #expect(try service.next() == .readOK(7))
        service.connection.send(.durable(42))
        #expect(replica.cluster.awaitDurable(42))
        #expect(replica.cluster.log.map(\.body) == [[], [1, 2]])
        #expect(replica.cluster.hello()?.address == "s1:1")

        // A service that comes back is given what it lacks, and the first one is sent away.
        let another = try Service(replica, applied: 41)
        #expect(try another.untilItLeads() == (1, 43))
        #expect(another.log == [42: [1, 2]])
        #expect(try service.next() == .end(.replaced, text: "another service has come"))
        #expect(throws: ReplicaError.closed) { try service.next() }
        #expect(replica.cluster.violations == [])
    }

    @Test func holdsCommitsUntilATestLetsThemGo() throws {
        let replica = try Self.started()
        let service = try Service(replica)
        let (term, first) = try service.untilItLeads()
        let cluster = replica.cluster
        cluster.hold()
        for index in first..<first + 4 { service.propose(term, index, [UInt8(index)]) }
        #expect(cluster.awaitProposal(first + 3))
        cluster.commitThrough(first + 1)
        #expect(try service.next() == .committed(term: term, index: first + 1))
        cluster.release()
        #expect(try service.next() == .committed(term: term, index: first + 3))
    }

    @Test(arguments: [true, false]) func deposesALeader(dropping drops: Bool) throws {
        let replica = try Self.started()
        let service = try Service(replica)
        let (term, first) = try service.untilItLeads()
        let cluster = replica.cluster
        cluster.hold()
        service.propose(term, first, [1])
        #expect(cluster.awaitProposal(first))
        cluster.depose(dropping: drops)
        let role = ReplicaRole(leads: false, term: 2, leader: FakeCluster.otherNode, index: 0)
        #expect(try service.next() == .role(role))
        // A word that crosses ROLE 0 is refused, and no fault.
        service.propose(term, first + 1, [2])
        guard case .refused(term, first + 1, .notLeader, _) = try service.next() else {
            throw Unexpected(cluster.violations)
        }
        cluster.release()
        cluster.append([9])
        // Now as a follower that starts.
        let follower = try Service(replica, applied: first - 1)
        while follower.last < cluster.last { _ = try follower.next() }
        let bodies: [[UInt8]] = drops ? [[], [9]] : [[1], [], [9]]
        #expect((first...cluster.last).map { follower.log[$0] } == bodies)
        cluster.elect(1)
        #expect(try follower.untilItLeads() == (3, cluster.last + 1))
        #expect(cluster.violations == [])
        #expect(cluster.depositionCount == 2)
    }

    @Test func aNodeFollowsTheServiceOfAnother() throws {
        let cluster = FakeCluster()
        let (first, second) = (try Self.started(cluster), try Self.started(cluster, node: 2))
        let leader = try Service(first)
        let follower = try Service(second)
        let (term, index) = try leader.untilItLeads()
        leader.propose(term, index, [7])
        while follower.last < index { _ = try follower.next() }
        #expect(follower.log[index] == [7])
        follower.connection.send(.read(1))
        #expect(try follower.next() == .readNo(1))
        leader.connection.send(.transfer(node: 0))
        #expect(try follower.untilItLeads() == (2, index + 2))
        #expect(cluster.leader == 2)
        #expect(cluster.violations == [])
    }

    @Test func aFollowerHearsWhatIsCommitted() throws {
        let cluster = FakeCluster(leader: FakeCluster.otherNode)
        let replica = try Self.started(cluster)
        let service = try Service(replica)
        let before = SystemClock.bootNanoseconds() / 1_000
        let wakeUp = try ReplicaWakeUp()
        while true {
            if case .heard(let committed, let microseconds) = try service.connection.receive() {
                #expect(committed == 1)
                #expect(microseconds <= SystemClock.bootNanoseconds() / 1_000)
                if microseconds >= before { break }
            }
            try service.connection.wait(upTo: .seconds(1), orWake: wakeUp)
        }
    }

    /// What a service does wrong, as a leader behind record 1, and the beginning of what is noted.
    private static let faults: [(words: [(ServiceWord, [UInt8])], violation: String)] = [
        ([(.propose(term: 1, index: 3), [1])], "record 3 was proposed, expected 2"),
        (
            [(.propose(term: 1, index: 2), [1]), (.propose(term: 1, index: 2), [1])],
            "record 2 was proposed, expected 3"
        ),
        (
            (2...6).map { (.propose(term: 1, index: $0), [1]) },
            "5 records of 5 bytes are on their way"
        ),
        (
            [
                (.propose(term: 1, index: 2), [1]),
                (.member(term: 1, index: 3, .add, node: 0, text: "b\nu"), []),
            ],
            "MEMBER came with 1 records on their way"
        ),
        ([(.durable(2), [])], "DURABLE has record 2, told is 1"),
        (
            [
                (
                    .hello(
                        ReplicaHello(applied: 0, levels: 1...1, cluster: .none, address: "")
                    ), []
                )
            ],
            "HELLO came twice"
        ),
        (
            [(.propose(term: 0, index: 2), [1]), (.propose(term: 1, index: 2), [2])],
            "record 2 was refused, and came again as another batch"
        ),
    ]

    @Test(arguments: faults.indices) func seesWhatNoServiceMaySay(_ place: Int) throws {
        let (words, violation) = Self.faults[place]
        let replica = try Self.started()
        let service = try Service(replica)
        #expect(try service.untilItLeads() == (1, 2))
        replica.cluster.hold()
        for (word, body) in words { service.connection.send(word, body: body.span) }
        while true {
            if case .end(let reason, _) = try service.next() {
                #expect(reason == .badFrame)
                break
            }
        }
        #expect(replica.cluster.violations == [violation])
    }

    @Test func seesAServiceThatGoesOnAfterItWasDeposed() throws {
        let replica = try Self.started()
        let service = try Service(replica)
        _ = try service.untilItLeads()
        replica.cluster.depose(dropping: true)
        replica.cluster.elect(1)
        let (term, index) = try service.untilItLeads()
        service.propose(term, index, [1])
        while true {
            if case .end = try service.next() { break }
        }
        #expect(
            replica.cluster.violations
                == ["record \(index) was proposed by a service that was deposed"]
        )
    }

    @Test func seesAStateWithARecordThatWasDropped() throws {
        let replica = try Self.started()
        let service = try Service(replica, applied: 2)
        #expect(
            try service.next()
                == .end(.badFrame, text: "HELLO has record 2, and 1 is committed")
        )
        #expect(replica.cluster.violations.count == 1)
    }

    @Test func changesMembersAndSaysWhoThereIs() throws {
        let replica = try Self.started()
        let service = try Service(replica)
        let (term, first) = try service.untilItLeads()
        service.connection.send(
            .member(term: term, index: first, .add, node: 0, text: "b\nhttp://b")
        )
        var words = [try service.next(), try service.next()]
        if case .added = words[0] { words.swapAt(0, 1) }
        #expect(words[0] == .entry(index: first, term: term, .memberChange, body: []))
        #expect(words[1] == .added(index: first, node: 2, token: "token of 2"))
        service.connection.send(
            .member(term: term, index: first + 1, .remove, node: 1, text: "")
        )
        guard case .refused(_, first + 1, .badMemberChange, _) = try service.next() else {
            throw Unexpected(replica.cluster.violations)
        }
        service.connection.send(.status(request: 3))
        guard case .statusIs(request: 3, let json) = try service.next() else {
            throw Unexpected(replica.cluster.violations)
        }
        let text = String(decoding: json, as: UTF8.self)
        #expect(text.contains(#""role":"leader","term":1,"leader":"0000000000000001""#))
        #expect(
            text.contains(#"{"node":"0000000000000002","name":"b","url":"http://b","voter":false"#)
        )
        #expect(text.contains(#""service":{"address":"s1:1","lowest_level":1"#))
    }

    @Test func askForAndGiveCopiesOfTheState() throws {
        let cluster = FakeCluster(leader: FakeCluster.otherNode)
        let replica = try Self.started(cluster)
        cluster.append([1])
        let service = try Service(replica)
        while service.last < 2 { _ = try service.next() }
        cluster.say(.copyWanted(request: 5, least: 1))
        #expect(try service.next() == .copyWanted(request: 5, least: 1))
        service.connection.send(.copy(request: 5, index: 2, path: "/state"))
        #expect(cluster.awaitCopy(5) == .file(index: 2, path: "/state"))
        service.connection.send(.noCopy(request: 6, why: "no room"))
        #expect(cluster.awaitCopy(6) == FakeCopy.none(why: "no room"))

        cluster.forget(through: 1, leaving: "/copy")
        #expect(try Self.wordBehindRole(Service(replica)) == .install(index: 1, path: "/copy"))
        cluster.forget(through: 2)
        #expect(try Self.wordBehindRole(Service(replica)) == .tooOld(first: 3))
        #expect(cluster.violations == [])
    }

    private static func wordBehindRole(_ service: Service) throws -> ReplicaWord {
        while true {
            if case .role = try service.next() { return try service.next() }
        }
    }

    @Test func comesBackAtTheSamePath() throws {
        let replica = try Self.started()
        let service = try Service(replica)
        _ = try service.untilItLeads()
        replica.stop()
        #expect(try service.next() == .end(.stopping, text: "the replica stops"))
        #expect(throws: ReplicaError.self) { try Service(replica) }
        try replica.start()
        #expect(try Service(replica, applied: 1).untilItLeads() == (1, 2))
    }

    /// A service that does all right, through refusals, late commits and lost leaderships.
    @Test(arguments: TestEnvironment.seeds(1...20)) func nothingIsLostByPlan(seed: UInt64) throws {
        var plan = FakePlan(seed: seed)
        plan.latestCommit = Int(seed % 4)
        plan.refusesOneIn = 7
        plan.deposesOneIn = 23
        plan.endsOneIn = 29
        let replica = try Self.started(FakeCluster(plan: plan))
        let cluster = replica.cluster
        var committed: [UInt64: [UInt8]] = [:]
        var random = SeededGenerator(seed: seed)
        while committed.count < 300 {
            let service = try Service(replica, applied: UInt64(committed.count))
            do {
                try Self.serve(service, random: &random)
            } catch ReplicaError.closed {
                // The plan has ended the session.
            }
            committed.merge(service.log) { first, second in
                Issue.record("A record came twice: seed \(seed).")
                return first + second
            }
        }
        let log = Dictionary(uniqueKeysWithValues: cluster.log.map { ($0.index, $0.body) })
        for (index, body) in committed { #expect(log[index] == body, "seed \(seed)") }
        #expect(cluster.violations == [], "seed \(seed)")
        #expect(cluster.refusalCount > 0 && cluster.depositionCount > 0, "seed \(seed)")
    }

    /// Proposes until the session ends or the node leads no more.
    private static func serve(_ service: Service, random: inout SeededGenerator) throws {
        var (term, next) = try service.untilItLeads()
        var refusedCount: UInt64 = 0
        var refused: UInt64?
        while service.last < 400 {
            // Behind a record that is refused, all that are on their way are.
            if let first = refused, first + refusedCount == next {
                (next, refused, refusedCount) = (first, nil, 0)
            }
            while refused == nil, next <= service.last + 4 {
                let body = service.proposed[next] ?? random.bytes(3)
                service.propose(term, next, body)
                next += 1
            }
            switch try service.next() {
            case .refused(_, let index, _, _):
                refused = refused ?? index
                refusedCount += 1
            case .role(let role):
                if !role.leads { return }
                term = role.term
            case .end: return
            default: break
            }
        }
    }

    @Test func aFaultOfTheReplicaIsSeen() throws {
        let replica = try Self.started()
        let service = try Service(replica)
        let (term, first) = try service.untilItLeads()
        replica.cluster.hold()
        replica.cluster.setFaults([.earlyCommitted])
        service.propose(term, first, [1])
        #expect(try service.next() == .committed(term: term, index: first))
        #expect(replica.cluster.committed == first - 1)
    }
}
