import FakeReplica
import FeedDiskFaults
import FeedReplica
import FeedState
import FeedTestSupport
import Testing

/// What a node answers to what operators ask of it, by what its replica says.
@Suite(.timeLimit(.minutes(10))) struct MemberChangeTests {
    private typealias Outcome = Result<ClusterAnswer, ClusterRefusal>

    private let disk: FakeDisk
    private let cluster: FakeCluster
    private let replica: FakeReplica

    init() throws {
        disk = FakeDisk()
        let begun = try ReplicaLife.makeCluster(on: disk)
        cluster = FakeCluster(begun.cluster, behind: begun.last)
        replica = try FakeReplica(in: cluster)
        try replica.start()
    }

    /// A node beside its replica, which leads if the cluster has it lead.
    private func live(
        longestAsk: Duration = .seconds(60),
        _ body: (ReplicaLife) throws -> Void
    ) throws {
        defer { replica.stop() }
        let life = try ReplicaLife(
            disk,
            replica.socketPath,
            address: "here:1",
            longestAsk: longestAsk
        )
        defer {
            life.die()
            withExtendedLifetime(life) {}
        }
        if cluster.leader == 1 {
            #expect(try life.turn { life.isLeading && life.isQuiet && life.last == cluster.last })
        } else {
            #expect(try life.turn { cluster.hello() != nil && life.last == cluster.last })
        }
        try body(life)
        #expect(cluster.violations == [])
    }

    private func ask(_ ask: ClusterAsk, of life: ReplicaLife) -> Locked<Outcome?> {
        let outcome = Locked<Outcome?>(nil)
        life.journal.ask(ask) { answer in outcome.withLock { $0 = answer } }
        return outcome
    }

    /// Asks, and takes turns until the answer has come.
    private func answer(_ ask: ClusterAsk, of life: ReplicaLife) throws -> Outcome? {
        let outcome = self.ask(ask, of: life)
        #expect(try life.turn { outcome.withLock { $0 } != nil })
        return outcome.withLock { $0 }
    }

    /// The changes of the members in the log.
    private var changeCount: Int { cluster.log.count { $0.kind == .memberChange } }

    @Test func aNodeIsAddedAndRemoved() throws {
        try live { (life) throws in
            life.vote()
            let added = try answer(.add(name: "b", url: "https://b:1"), of: life)
            #expect(added == .success(.added(node: 2, token: "token of 2")))
            life.vote()
            #expect(try answer(.remove(node: 2), of: life) == .success(.done))
            #expect(changeCount == 2)
            life.vote()
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
        }
    }

    @Test func aRefusedChangeSaysWhyAndLeavesNoHole() throws {
        try live { (life) throws in
            let refused = try answer(.remove(node: 7), of: life)
            #expect(refused == .failure(.refused("the change cannot be")))
            life.vote()
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
            #expect(changeCount == 0)
        }
    }

    @Test func changesAreMadeOneByOneAlsoBesideAPromotion() throws {
        try live { (life) throws in
            #expect(
                try answer(.add(name: "b", url: "https://b:1"), of: life)
                    == .success(.added(node: 2, token: "token of 2"))
            )
            cluster.say(.memberWanted(.promote, node: 2))
            let c = ask(.add(name: "c", url: "https://c:1"), of: life)
            let d = ask(.add(name: "d", url: "https://d:1"), of: life)
            for _ in 0..<20 {
                life.vote()
                try life.turn()
            }
            #expect(try life.turn { changeCount == 4 && life.isQuiet })
            #expect(c.withLock { $0 } == .success(.added(node: 3, token: "token of 3")))
            #expect(d.withLock { $0 } == .success(.added(node: 4, token: "token of 4")))
        }
    }

    @Test("T-CALL-19: no more changes wait than the limit")
    func noMoreChangesWaitThanTheLimit() throws {
        try live { (life) throws in
            cluster.hold()
            life.vote()
            let outcomes = (0..<20).map { ask(.remove(node: UInt64($0) + 50), of: life) }
            #expect(try life.turn { outcomes.contains { $0.withLock { $0 } != nil } })
            let refused = outcomes.compactMap { $0.withLock { $0 } }
            #expect(refused.allSatisfy { $0 == .failure(.tooMany(limit: 16)) })
            cluster.release()
            #expect(try life.turn { outcomes.allSatisfy { $0.withLock { $0 } != nil } })
        }
    }

    @Test func aChangeIsInDoubtIfTheNodeIsDeposedMeanwhile() throws {
        try live { (life) throws in
            cluster.hold()
            let begun = ask(.add(name: "b", url: "https://b:1"), of: life)
            let last = cluster.last
            #expect(try life.turn { cluster.last == last + 1 })
            let waiting = ask(.remove(node: 2), of: life)
            try life.turn()
            cluster.depose(dropping: true)
            while try life.turn() {}
            let words = "this node does not lead any more"
            #expect(begun.withLock { $0 } == .failure(.inDoubt(words)))
            #expect(waiting.withLock { $0 } == .failure(.unavailable(words)))
            // Nobody is there any more who could answer.
            let late = ask(.status, of: life)
            #expect(late.withLock { $0 } == .failure(.unavailable("the service ends")))
        }
    }

    @Test func aChangeThatIsNotCommittedInTimeIsInDoubtAndGoesOn() throws {
        try live(longestAsk: .milliseconds(1)) { (life) throws in
            cluster.hold()
            let last = cluster.last
            let asked = ask(.add(name: "b", url: "https://b:1"), of: life)
            #expect(try life.turn { asked.withLock { $0 } != nil })
            guard case .failure(let refusal) = asked.withLock({ $0 }) else {
                throw Unexpected("an answer")
            }
            let words = "the replica has not answered within 0.001 seconds"
            let late = "its turn has not come in time, and nothing was proposed"
            #expect([.inDoubt(words), .unavailable(late)].contains(refusal))
            cluster.release()
            life.vote()
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
            #expect(life.last > last)
        }
    }

    @Test func aFollowerHasAStatusAndRefusesChanges() throws {
        cluster.elect(FakeCluster.otherNode)
        try live { (life) throws in
            guard case .success(.status(let status)) = try answer(.status, of: life) else {
                throw Unexpected("no status")
            }
            #expect((status.node, status.leader) == (1, FakeCluster.otherNode))
            for ask in [
                .add(name: "b", url: "https://b:1"), .remove(node: 1), .transfer(node: 0),
            ] as [ClusterAsk] {
                #expect(try answer(ask, of: life) == .failure(.notLeader(leader: nil)))
            }
        }
    }

    @Test("T-CALL-19: a replica that is silent or gone is said")
    func aReplicaThatIsSilentOrGoneIsSaid() throws {
        try live(longestAsk: .milliseconds(1)) { (life) throws in
            cluster.setFaults([.silent])
            let words = "the replica has not answered within 0.001 seconds"
            #expect(try answer(.status, of: life) == .failure(.unavailable(words)))
            #expect(try answer(.transfer(node: 0), of: life) == .failure(.inDoubt(words)))
        }
        disk.revive()
        let life = try ReplicaLife(disk, replica.socketPath)
        #expect(
            try answer(.status, of: life) == .failure(.unavailable("the replica is not there"))
        )
        life.die()
    }

    @Test func aTransferIsTakenOrRefused() throws {
        let other = try FakeReplica(in: cluster, node: 2)
        try other.start()
        defer { other.stop() }
        let follower = disk.copy()
        try live { (life) throws in
            let none = try answer(.transfer(node: 2), of: life)
            #expect(none == .failure(.refused("no such node is connected")))
            let second = try ReplicaLife(follower, other.socketPath)
            #expect(try second.turn { cluster.hello(of: 2) != nil })
            #expect(try answer(.transfer(node: 2), of: life) == .success(.done))
            #expect(try second.turn { second.isLeading })
            while try life.turn() {}
            #expect(life.said.depositions.count == 1)
            second.die()
        }
    }

    @Test(arguments: [0, FakeCluster.otherNode])
    func aTransferWithoutAnAnswerIsDoneOnceAnotherNodeLeads(_ next: UInt64) throws {
        try live { (life) throws in
            cluster.setFaults([.silent])
            let outcome = ask(.transfer(node: 0), of: life)
            try life.turn()
            #expect(outcome.withLock { $0 } == nil)
            cluster.depose(dropping: false, for: next)
            while try life.turn() {}
            let words = "this node does not lead any more, and it is not known which one does"
            #expect(
                outcome.withLock { $0 } == (next == 0 ? .failure(.inDoubt(words)) : .success(.done))
            )
        }
    }

    @Test func theChainsOfTheNewestRecordsAreTheSameOnAllNodes() throws {
        let other = try FakeReplica(in: cluster, node: 2)
        try other.start()
        defer { other.stop() }
        let follower = disk.copy()
        try live { (life) throws in
            let first = life.last
            let second = try ReplicaLife(follower, other.socketPath)
            for _ in 0..<10 {
                life.vote()
                try life.turn()
            }
            #expect(try answer(.remove(node: 7), of: life) != nil)
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
            #expect(try second.turn { second.last == life.last })
            let newest = try #require(life.journal.chain(ofRecord: 0))
            #expect(newest.record == life.last)
            for record in first + 1...life.last {
                let chain = try #require(life.journal.chain(ofRecord: record))
                #expect(second.journal.chain(ofRecord: record)?.hash == chain.hash)
                #expect(record == life.last || chain.hash != newest.hash)
            }
            #expect(life.journal.chain(ofRecord: life.last + 1) == nil)
            #expect(life.journal.chain(ofRecord: 1 << 60) == nil)
            second.die()
        }
    }
}
