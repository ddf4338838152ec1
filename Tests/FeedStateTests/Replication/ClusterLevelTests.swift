import FakeReplica
import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport
import Testing

/// When the records of a cluster come to a level, and who does not read them then.
///
/// A cluster begins with the product's newest level; the programs here have one more.
@Suite(.timeLimit(.minutes(10))) struct ClusterLevelTests {
    /// A node of the cluster on a disk of its own.
    private struct Node {
        let disk: FakeDisk
        let replica: FakeReplica
    }

    private let id: ClusterID
    private let last: UInt64
    private let cluster: FakeCluster
    private let nodes: [Node]

    /// Three nodes with one state, of which the first one leads.
    init() throws {
        let disk = FakeDisk()
        let begun = try ReplicaLife.makeCluster(on: disk)
        (id, last) = (begun.cluster, begun.last)
        let cluster = FakeCluster(begun.cluster, behind: begun.last)
        self.cluster = cluster
        nodes = try [disk, disk.copy(), disk.copy()].enumerated().map { place, disk in
            Node(disk: disk, replica: try FakeReplica(in: cluster, node: UInt64(place) + 1))
        }
        for node in nodes { try node.replica.start() }
    }

    private func stop() {
        for node in nodes { node.replica.stop() }
    }

    /// Lives of the first nodes, each of a program that reads levels up to one.
    private func live(_ levels: [UInt32], _ body: ([ReplicaLife]) throws -> Void) throws {
        defer { for node in nodes { node.disk.revive() } }
        try liveToTheEnd(levels, body)
    }

    private func liveToTheEnd(
        _ levels: [UInt32],
        _ body: ([ReplicaLife]) throws -> Void
    ) throws {
        let lives = try zip(nodes, levels).map { node, level in
            try ReplicaLife(node.disk, node.replica.socketPath, newestLevel: level)
        }
        defer {
            for life in lives { life.die() }
            withExtendedLifetime(lives) {}
        }
        try body(lives)
    }

    /// Takes turns of all nodes until something holds.
    private func turn(_ lives: [ReplicaLife], until isDone: () -> Bool) throws -> Bool {
        try lives[0].turn {
            do {
                for life in lives.dropFirst() { try life.turn() }
            } catch {
                Issue.record(error)
            }
            return isDone()
        }
    }

    /// Whether all have what is committed, and nothing waits.
    private func isQuiet(_ lives: [ReplicaLife]) -> Bool {
        lives[0].isLeading && lives[0].isQuiet
            && lives.allSatisfy { $0.isOver || $0.last == cluster.committed }
    }

    private func levels() throws -> [UInt32] {
        try cluster.log.compactMap { entry in
            try RecordHead(of: entry.body.span, record: entry.index, newestLevel: 9)?.level
        }
    }

    /// Time for two words of the status, each of which says the levels of all.
    private func awaitStatus(_ lives: [ReplicaLife]) throws {
        let count = lives[0].said.statusCount
        #expect(try turn(lives) { lives[0].said.statusCount >= count + 2 && isQuiet(lives) })
    }

    @Test(arguments: [[2, 3, 3], [3, 2, 3], [3, 3, 2], [2, 2, 2]] as [[UInt32]])
    func mixedProgramsStayAtTheLowerLevel(_ known: [UInt32]) throws {
        defer { stop() }
        try live(known) { (lives) throws in
            #expect(try turn(lives) { isQuiet(lives) })
            try awaitStatus(lives)
            lives[0].vote()
            #expect(try turn(lives) { isQuiet(lives) })
            #expect(lives.map(\.journal.clusterLevel) == [2, 2, 2])
            #expect(try levels().allSatisfy { $0 == 2 })
        }
        #expect(cluster.violations == [])
    }

    /// Its service has said nothing yet.
    @Test func aMemberWithoutAServiceKeepsTheLevelDown() throws {
        defer { stop() }
        try live([3, 3]) { (lives) throws in
            #expect(try turn(lives) { isQuiet(lives) })
            try awaitStatus(lives)
            #expect(lives.map(\.journal.clusterLevel) == [2, 2])
            #expect(try levels().allSatisfy { $0 == 2 })
        }
        #expect(cluster.violations == [])
    }

    /// What its replica remembers of a program may be older than the one that comes back.
    @Test func aMemberThatIsNotConnectedKeepsTheLevelDown() throws {
        func common(_ others: [(isConnected: Bool, level: UInt32)]) throws -> UInt32 {
            let members = others.enumerated().map { place, other in
                """
                {"node":"0\(place + 1)","name":"n","url":"https://n:1","voter":true,\
                "connected":\(other.isConnected),"service":{"highest_level":\(other.level)}}
                """
            }
            let document = """
                {"node":"01","name":"n","cluster":"","role":"leader","term":2,"leader":"01","first":1,\
                "last":9,"committed":9,"durable":9,"log_bytes":1,"heard_age_seconds":0,"copies":0,\
                "members":[\(members.joined(separator: ","))]}
                """
            return try #require(ReplicaStatus(json: Array(document.utf8))).commonLevel
        }
        #expect(try common([(true, 3), (true, 2)]) == 2)
        #expect(try common([(true, 3), (false, 2)]) == 0)
        #expect(try common([]) == 0)
    }

    @Test func aRecordRaisesTheLevelOnceAllReadIt() throws {
        defer { stop() }
        try live([3, 3, 3]) { (lives) throws in
            #expect(try turn(lives) { lives.allSatisfy { $0.journal.clusterLevel == 3 } })
            #expect(try turn(lives) { isQuiet(lives) })
            let found = try levels()
            // Nobody had to change anything for it.
            #expect(found.filter { $0 == 3 }.count == 1 && found.last == 3)
            try awaitStatus(lives)
            #expect(try levels() == found)
            lives[0].vote()
            #expect(try turn(lives) { isQuiet(lives) && cluster.log.count > found.count })
            #expect(try levels().last == 3)
            #expect(Set(lives.map { $0.store.stateHash() }).count == 1)
        }
        // A start knows it, whether the record is checkpointed or not.
        try live([3, 3, 3]) { (lives) throws in
            #expect(lives.map(\.journal.clusterLevel) == [3, 3, 3])
        }
        #expect(cluster.violations == [])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func itIsRaisedUnderLoadAndBehindRefusals(_ seed: UInt64) throws {
        var plan = FakePlan(seed: seed)
        plan.refusesOneIn = 3
        plan.latestCommit = 3
        let disk = FakeDisk()
        let begun = try ReplicaLife.makeCluster(on: disk)
        let cluster = FakeCluster(begun.cluster, behind: begun.last, plan: plan)
        let replica = try FakeReplica(in: cluster)
        try replica.start()
        defer {
            stop()
            replica.stop()
        }
        var model = try LogModel(of: disk, behind: begun.last)
        let life = try ReplicaLife(disk, replica.socketPath, newestLevel: 3)
        defer {
            life.die()
            withExtendedLifetime(life) {}
        }
        #expect(try life.turn { life.isLeading })
        var voteCount = 0
        while voteCount < 60 || life.journal.clusterLevel < 3 {
            life.vote(voteCount % 2)
            voteCount += 1
            try life.turn()
        }
        #expect(try life.turn { life.isQuiet && life.last == cluster.last })
        #expect(life.store.stateHash() == (try model.hash(life.last, cluster.log)))
        #expect(cluster.violations == [])
    }

    @Test func aProgramOfTheLowerLevelEndsAndChangesNothing() throws {
        defer { stop() }
        let behind = nodes[2].disk.copy()
        try live([3, 3, 3]) { (lives) throws in
            #expect(try turn(lives) { isQuiet(lives) && lives[0].journal.clusterLevel == 3 })
        }
        let first = try #require(
            cluster.log.first { entry in
                let head = try? RecordHead(of: entry.body.span, record: 1, newestLevel: 3)
                return head?.level == 3
            }
        )
        var model = try LogModel(of: behind, behind: last)
        /// A machine that was away, whose files are closed before its disk lives again.
        func serve(level: UInt32, _ body: (ReplicaLife) throws -> Void) throws {
            let life = try ReplicaLife(behind, nodes[2].replica.socketPath, newestLevel: level)
            defer {
                life.die()
                withExtendedLifetime(life) {}
            }
            try body(life)
            #expect(life.store.stateHash() == (try model.hash(life.last, cluster.log)))
        }
        for _ in 0..<2 {
            defer { behind.revive() }
            try serve(level: 2) { (life) throws in
                while try life.turn() {}
                #expect(life.said.endings.map(\.exitStatus) == [4])
                let words = "Record \(first.index) of the journal is of level 3; this program knows"
                #expect(life.said.endings.first?.sentence.hasPrefix(words) == true)
                #expect(life.last == first.index - 1 && life.journal.clusterLevel == 2)
            }
        }
        try serve(level: 3) { (life) throws in
            #expect(try life.turn { life.last == cluster.committed })
            #expect(life.said.endings == [])
        }
        behind.revive()
        // With the record in its journal it does not start.
        let error = #expect(throws: StateStartError.self) {
            _ = try ReplicaLife(behind, nodes[2].replica.socketPath)
        }
        #expect(error?.exitStatus == 4)
        #expect(cluster.violations == [])
    }
}
