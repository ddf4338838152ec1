import FakeReplica
import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport
import Testing

/// That a cluster keeps what it has answered while its machines lose their power, and that each start finds
/// the state of a record of the cluster's log.
///
/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite(.timeLimit(.minutes(20))) struct ClusterPowerCutTests {
    @Test func eachStartFindsTheStateOfARecord() async throws {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 2_000) / 40
        let replayed = TestEnvironment.number("FEED_SEED")
        var seed = replayed ?? TestEnvironment.firstSeed
        var (cutCount, lossCount, leaderCount) = (0, 0, 0)
        while cutCount < wanted {
            let run = try await offload { [seed] in
                var run = try ClusterRun(seed: seed)
                let complaint = run.run()
                return (
                    complaint: complaint, cutCount: run.cutCount, lossCount: run.lossCount,
                    leaderCount: run.leaderCount
                )
            }
            #expect(run.complaint == nil, "seed \(seed)")
            guard run.complaint == nil, replayed == nil else { return }
            cutCount += run.cutCount
            lossCount += run.lossCount
            leaderCount += run.leaderCount
            seed += 1
        }
        // Else the runs would show nothing of what a start gets again.
        #expect(
            lossCount > wanted / 20,
            "\(lossCount) of \(cutCount) power cuts have lost records."
        )
        #expect(leaderCount > wanted / 10, "\(leaderCount) times a node began to lead.")
    }

    /// Answers that are released before the majority has them are lost with their leader.
    @Test func noticesAReplicaThatCommitsEarly() throws {
        let complaints = try (1...10 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = try ClusterRun(seed: seed)
            run.cluster.setFaults([.earlyCommitted])
            return run.run()
        }
        #expect(!complaints.isEmpty)
    }
}

/// Lives of two nodes of a cluster, in turns of one thread, on disks in memory whose power fails.
struct ClusterRun {
    private struct Complaint: Error {
        let text: String
    }

    let cluster: FakeCluster
    private let last: UInt64
    private let replicas: [FakeReplica]
    private var disks: [FakeDisk]
    private var lives: [ReplicaLife?] = [nil, nil]
    private var model: LogModel
    private var generator: SeededGenerator
    /// The last record of each disk that no power cut may take back.
    private var durable: [UInt64]
    /// The last record that a node had.
    private var reached: [UInt64]
    /// The last record whose answers were released by a leader.
    private var answered: UInt64 = 0
    private(set) var cutCount = 0
    /// The power cuts after which a journal had fewer records than before.
    private(set) var lossCount = 0
    private(set) var leaderCount = 0

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        let disk = FakeDisk()
        let begun = try ReplicaLife.makeCluster(on: disk)
        last = begun.last
        var plan = FakePlan(seed: seed)
        plan.latestCommit = Int.random(in: 0...3, using: &generator)
        plan.refusesOneIn = generator.oneIn(2) ? 9 : 0
        cluster = FakeCluster(begun.cluster, behind: begun.last, leader: 1, plan: plan)
        let cluster = cluster
        replicas = try (1...2 as ClosedRange<UInt64>).map { try FakeReplica(in: cluster, node: $0) }
        // The second machine has a copy of the first one's files.
        disks = [disk, disk.copy()]
        model = try LogModel(of: disk, behind: begun.last)
        durable = [begun.last, begun.last]
        reached = durable
    }

    /// Lives some lives; answers what was wrong, nil if nothing was.
    mutating func run() -> String? {
        defer { for replica in replicas { replica.stop() } }
        do {
            for replica in replicas { try replica.start() }
            for _ in 0..<30 {
                for node in 0..<2 where lives[node] == nil { try begin(node) }
                for _ in 0..<Int.random(in: 1...40, using: &generator) { try turn() }
                haveAccident()
            }
            try settle()
        } catch let complaint as Complaint {
            return complaint.text
        } catch {
            return "An error without a power cut: \(error)"
        }
        for node in 0..<2 { end(node) }
        return nil
    }

    /// Starts a node, and compares what it finds with the log.
    private mutating func begin(_ node: Int) throws {
        let life: ReplicaLife
        do {
            life = try ReplicaLife(disks[node], replicas[node].socketPath)
        } catch {
            guard disks[node].isDead else { throw error }
            return cut(node)
        }
        lives[node] = life
        let found = life.last
        guard found >= durable[node], found <= cluster.committed else {
            throw Complaint(
                text:
                    "Node \(node) finds \(found) records, of which \(durable[node]) were durable, and "
                    + "\(cluster.committed) are committed."
            )
        }
        if found < reached[node] { lossCount += 1 }
        durable[node] = found
        try compare(life)
    }

    private mutating func compare(_ life: ReplicaLife) throws {
        guard life.store.stateHash() == (try model.hash(life.last, cluster.log)) else {
            throw Complaint(text: "The state is not that of record \(life.last).")
        }
    }

    /// One turn of a node, and maybe of its clients, its syncs and its checkpoints.
    private mutating func turn() throws {
        let node = Int.random(in: 0..<2, using: &generator)
        switch try takeTurn(node) {
        case .goesOn: break
        case .isOver: end(node)
        case .hasNoPower: cut(node)
        }
    }

    private enum Outcome {
        case goesOn
        case isOver
        case hasNoPower
    }

    private mutating func takeTurn(_ node: Int) throws -> Outcome {
        guard let life = lives[node] else { return .goesOn }
        if life.isLeading, generator.oneIn(2) {
            let loop = Int.random(in: 0..<2, using: &generator)
            if generator.oneIn(6) { life.create("\(life.last)", loop) } else { life.vote(loop) }
        }
        let wasLeading = life.isLeading
        do {
            if generator.oneIn(3) { life.sync.syncMark() }
            if generator.oneIn(5) { _ = life.sync.areDurable(through: life.last) }
            if generator.oneIn(8) { _ = try life.checkpoint() }
            try life.turn(waitingUpTo: .microseconds(200))
        } catch {
            guard disks[node].isDead else { throw error }
            return .hasNoPower
        }
        durable[node] = max(durable[node], life.sync.syncedRecord)
        reached[node] = life.last
        if !wasLeading, life.isLeading { leaderCount += 1 }
        try audit(life)
        return life.isOver ? .isOver : .goesOn
    }

    private mutating func audit(_ life: ReplicaLife) throws {
        let said = life.said
        if let ending = said.endings.first { throw Complaint(text: ending.sentence) }
        guard said.durable == said.durable.sorted() else {
            throw Complaint(text: "Batches are released out of order: \(said.durable).")
        }
        answered = max(answered, said.durable.last ?? 0)
        guard answered <= cluster.committed else {
            throw Complaint(
                text: "Record \(answered) was answered, and \(cluster.committed) is committed."
            )
        }
    }

    /// A power cut, a death of a process, or another leader.
    private mutating func haveAccident() {
        let node = Int.random(in: 0..<2, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: cut(node)
        case 1: end(node)
        case 2: disks[node].callsUntilPowerCut = Int.random(in: 0...100, using: &generator)
        case 3: cluster.depose(dropping: generator.oneIn(2), for: UInt64(2 - node))
        case 4: cluster.endSession(of: UInt64(node + 1), generator.oneIn(2) ? .stopping : nil)
        default: break
        }
    }

    /// The power of a machine goes, and comes back.
    private mutating func cut(_ node: Int) {
        disks[node].die()
        lives[node] = nil
        disks[node] = disks[node].afterPowerCut(&generator)
        cutCount += 1
    }

    /// A process dies, and starts again on what it has written.
    private mutating func end(_ node: Int) {
        disks[node].die()
        lives[node] = nil
        disks[node].revive()
    }

    /// Without further accidents both nodes come to the same state.
    private mutating func settle() throws {
        for node in 0..<2 { disks[node].callsUntilPowerCut = .max }
        let end = ContinuousClock.now + .seconds(60)
        while true {
            for node in 0..<2 where lives[node] == nil { try begin(node) }
            for node in 0..<2 {
                try lives[node]?.turn()
                if lives[node]?.isOver == true { self.end(node) }
            }
            let lasts = lives.map { $0?.last ?? 0 }
            let isQuiet = lives.allSatisfy { $0?.isQuiet == true }
            if isQuiet, cluster.committed == cluster.last, lasts == [cluster.last, cluster.last] {
                break
            }
            guard ContinuousClock.now < end else {
                throw Complaint(text: "Nodes have \(lasts) records, the log has \(cluster.last).")
            }
        }
        for life in lives { if let life { try compare(life) } }
        if let violation = cluster.violations.first { throw Complaint(text: violation) }
    }
}
