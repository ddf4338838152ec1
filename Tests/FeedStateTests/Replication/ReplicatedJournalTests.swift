import FakeReplica
import FeedConcurrency
import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport
import Testing

/// What a node of a cluster does by what its replica says.
@Suite(.timeLimit(.minutes(10))) struct ReplicatedJournalTests {
    private let disk: FakeDisk
    private let last: UInt64
    private let id: ClusterID

    init() throws {
        let disk = FakeDisk()
        let begun = try ReplicaLife.makeCluster(on: disk)
        self.disk = disk
        (id, last) = (begun.cluster, begun.last)
    }

    /// A node beside its replica; the disk is dead behind the body, and lives again.
    private func live(
        _ replica: FakeReplica,
        on disk: FakeDisk? = nil,
        _ body: (ReplicaLife) throws -> Void
    ) throws {
        let disk = disk ?? self.disk
        defer { disk.revive() }
        try liveToTheEnd(replica, disk, body)
    }

    /// The files are closed before the disk lives again.
    private func liveToTheEnd(
        _ replica: FakeReplica,
        _ disk: FakeDisk,
        _ body: (ReplicaLife) throws -> Void
    ) throws {
        let life = try ReplicaLife(disk, replica.socketPath, address: "here:1")
        defer {
            life.die()
            withExtendedLifetime(life) {}
        }
        try body(life)
    }

    private func started(
        leader: UInt64 = 1,
        _ plan: FakePlan = FakePlan()
    ) throws -> (FakeCluster, FakeReplica) {
        let cluster = FakeCluster(id, behind: last, leader: leader, plan: plan)
        let replica = try FakeReplica(in: cluster)
        try replica.start()
        return (cluster, replica)
    }

    /// Another start would be told the same, so the exit code is one that needs a person.
    @Test func aNodeThatLacksForgottenRecordsIsReplaced() throws {
        let (cluster, replica) = try started(leader: 2)
        defer { replica.stop() }
        cluster.elect(2)
        let first = cluster.last + 1
        cluster.forget(through: cluster.last)
        try live(replica) { life in
            while try life.turn() {}
            #expect(life.said.endings.map(\.exitStatus) == [5])
            let sentence = life.said.endings.first?.sentence ?? ""
            #expect(sentence.contains("begins with record \(first)"))
        }
        #expect(cluster.violations == [])
    }

    @Test func aLeaderWhoseDiskIsFullGivesTheLeadershipAwayOnce() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        try live(replica) { life in
            #expect(try life.turn { life.isLeading && life.isQuiet })
            #expect(cluster.transfers == [])
            disk.capacity = 0
            #expect(try life.turn { cluster.transfers.count == 1 })
            #expect(cluster.transfers == [0])
            for _ in 0..<100 { try life.turn() }
            #expect(cluster.transfers == [0])
        }
    }

    @Test func aClusterOfOneCommitsAndGoesOnAfterAStart() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        var model = try LogModel(of: disk, behind: last)
        for count in 1...3 {
            try live(replica) { (life) throws in
                #expect(try life.turn { life.isLeading })
                let begin = life.last
                // The counters of the new leader, and then each vote.
                #expect(try life.turn { life.last == begin + 1 })
                for vote in 1...5 as ClosedRange<UInt64> {
                    life.vote(Int(vote) % 2)
                    #expect(try life.turn { life.last == begin + 1 + vote })
                }
                #expect(life.journal.progress.durableBatch == life.last)
                #expect(life.said.durable.last == life.last)
                #expect(cluster.committed == life.last)
                let hash = try model.hash(life.last, cluster.log)
                #expect(life.store.stateHash() == hash)
                #expect(life.store.revision > UInt64(count) * SkippedNumbers.revisions)
            }
        }
        #expect(cluster.violations == [])
    }

    @Test func aStartLogsNothingAndNotesNoClock() throws {
        let (_, replica) = try started(leader: FakeCluster.otherNode)
        defer { replica.stop() }
        for _ in 0..<3 {
            try live(replica) { (life) throws in
                #expect((last...last + 1).contains(life.state.summary.last.number))
                #expect(life.state.summary.clockStep == nil)
                #expect(try life.turn { life.last == last + 1 })
            }
        }
        #expect(!disk.names.contains("journal/clock-steps"))
    }

    @Test func nothingIsReleasedBeforeTheMajorityHasIt() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading })
            #expect(try life.turn { life.last == cluster.committed && !life.said.durable.isEmpty })
            #expect(try life.turn { life.last == last + 2 })
            cluster.hold()
            let before = life.last
            for number in 1...6 as ClosedRange<UInt64> {
                life.vote()
                for _ in 0..<5 { try life.turn() }
                // Four are on their way, and the rest waits for room.
                #expect(cluster.last <= before + min(number, 4))
            }
            #expect(try life.turn { cluster.last == before + 4 })
            #expect(life.last == before)
            #expect(life.journal.progress.durableBatch == before)
            #expect(life.said.durable.last == before)
            #expect(life.journal.progress.oldestWait != nil)
            cluster.commitThrough(before + 2)
            #expect(try life.turn { life.last == before + 2 })
            #expect(life.journal.progress.durableBatch == before + 2)
            #expect(life.journal.progress.oldestWait != nil)
            cluster.release()
            #expect(try life.turn { life.last == cluster.last && life.last > before + 4 })
            #expect(life.journal.progress.oldestWait == nil)
            #expect(life.said.durable == life.said.durable.sorted())
        }
        #expect(cluster.violations == [])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func whatWasRefusedIsProposedAgainInOrder(_ seed: UInt64) throws {
        var plan = FakePlan(seed: seed)
        plan.refusesOneIn = 3
        plan.latestCommit = 3
        let (cluster, replica) = try started(leader: 1, plan)
        defer { replica.stop() }
        var model = try LogModel(of: disk, behind: last)
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading })
            for number in 0..<60 {
                if number.isMultiple(of: 7) { life.create("Post \(number)") } else { life.vote() }
                try life.turn()
            }
            // A busy machine makes few batches of them.
            while cluster.refusalCount == 0 {
                life.vote()
                #expect(try life.turn { life.isQuiet })
            }
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
            #expect(life.store.stateHash() == (try model.hash(life.last, cluster.log)))
        }
        #expect(cluster.violations == [])
    }

    @Test(arguments: [true, false])
    func aDeposedLeaderReleasesNothingAndSaysSo(_ drops: Bool) throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        var model = try LogModel(of: disk, behind: last)
        var told: [UInt64] = []
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading && life.last == last + 2 })
            cluster.hold()
            life.vote()
            #expect(try life.turn { cluster.last == last + 3 })
            life.vote(1)
            told = life.said.durable
            cluster.depose(dropping: drops)
            #expect(try !life.turn { false })
            #expect(life.said.durable == told)
            #expect(life.last == last + 2)
            let deposition = try #require(life.said.depositions.first)
            #expect(life.said.depositions.count == 1 && life.said.endings == [])
            let other = FakeCluster.otherNode
            #expect(deposition.cause == .otherTerm(cluster.term, leader: other))
            #expect(deposition.proposedCount >= 1)
        }
        cluster.release()
        // Its next start has what the cluster's log has become.
        try live(replica) { (life) throws in
            #expect(try life.turn { life.last == cluster.committed })
            #expect(!life.isLeading)
            #expect(life.store.stateHash() == (try model.hash(life.last, cluster.log)))
        }
        #expect(cluster.violations == [])
    }

    @Test func aLeaderThatHasLostItsMajorityNamesNoOtherTerm() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading && life.last == last + 2 })
            let term = cluster.term
            cluster.say(.role(ReplicaRole(leads: false, term: term, leader: 0, index: 0)))
            #expect(try !life.turn { false })
            let deposition = try #require(life.said.depositions.first)
            #expect(deposition.cause == .majorityLost(term: term))
            #expect("\(deposition)".contains(": no majority is connected to it in term \(term)"))
        }
        #expect(cluster.violations == [])
    }

    @Test func aLeaderWithoutASocketIsDeposed() throws {
        let (cluster, replica) = try started()
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading && life.last == last + 2 })
            replica.stop(cutting: true)
            #expect(try !life.turn { false })
            guard case .sessionLost = life.said.depositions.first?.cause else {
                throw Unexpected(life.said.depositions)
            }
        }
        #expect(cluster.violations == [])
    }

    @Test func aFollowerTriesTheSocketAgain() throws {
        let (cluster, replica) = try started(leader: FakeCluster.otherNode)
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.last == last + 1 })
            replica.stop(cutting: true)
            for _ in 0..<20 { try life.turn() }
            cluster.append(try Self.empty(behind: cluster, last, disk))
            try replica.start()
            #expect(try life.turn { life.last == last + 2 })
            #expect(life.said.depositions == [] && life.said.endings == [])
            // It hears what the leader has committed only when it has it.
            #expect(try life.turn { life.said.heard.last == last + 2 })
        }
    }

    /// The limit of one machine's clock is five minutes.
    @Test("a leader whose clock is far behind gives no earlier times, and says so")
    func theTimesOfALeaderGoOnFromTheLastRecord() throws {
        let (cluster, replica) = try started(leader: FakeCluster.otherNode)
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.last == last + 1 })
            let time = SystemClock.unixMicroseconds() + 3_600_000_000
            cluster.append(try Self.empty(behind: cluster, last, disk, at: time))
            #expect(try life.turn { life.last == last + 2 })
            cluster.elect(1)
            #expect(try life.turn { life.isLeading })
            #expect(life.create("b") == Int64(time / 1_000))
            let behind = life.said.news.compactMap { news -> UInt64? in
                if case .clockIsBehind(let microseconds) = news { microseconds } else { nil }
            }
            #expect(behind.count == 1 && (1...3_600_000_000).contains(behind[0]))
        }
        #expect(cluster.violations == [])
    }

    @Test func aFollowerTakesARecordAboveTheLimitOfCheckpointsAndNoMore() throws {
        let (cluster, replica) = try started(leader: FakeCluster.otherNode)
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.last == last + 1 })
            life.setBacklogLimit(1)
            for _ in 0..<5 { cluster.append(try Self.empty(behind: cluster, last, disk)) }
            #expect(cluster.awaitSent(last + 6))
            #expect(try life.turn { life.last > last + 1 })
            for _ in 0..<10 { try life.turn() }
            #expect(life.last == last + 2)
            life.setBacklogLimit(1 << 30)
            #expect(try life.turn { life.last == last + 6 })
        }
        #expect(cluster.violations == [])
    }

    /// A record of the other leader, without log entries.
    private static func empty(
        behind cluster: FakeCluster,
        _ last: UInt64,
        _ disk: FakeDisk,
        at microseconds: UInt64 = 9_000_000
    ) throws -> [UInt8] {
        let copy = disk.copy()
        let database = try StateDatabase.look(
            directory: ".",
            files: copy,
            vfs: copy.databaseDiskName
        )
        var chain = database.meta.chain
        for entry in cluster.log { _ = try chain.take(entry.body.span, record: entry.index) }
        var body = [UInt8](repeating: 0, count: RecordHead.byteCount)
        chain.seal(&body, entryCount: 0, at: microseconds)
        return body
    }

    @Test func aReplicaOfAnotherClusterEndsTheProcess() throws {
        let cluster = FakeCluster(ClusterID(high: 1, low: 2), behind: last)
        let replica = try FakeReplica(in: cluster)
        try replica.start()
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try !life.turn { false })
            #expect(life.said.endings.map(\.exitStatus) == [2])
        }
    }

    @Test func aRoundIsProvenByAWordAfterItOnly() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading && life.last == last + 2 })
            cluster.holdReads()
            let first = life.journal.askForProof()
            #expect(life.journal.askForProof() == first)
            for _ in 0..<10 { try life.turn() }
            #expect(life.said.proved.allSatisfy { $0 < first })
            let second = life.journal.askForProof()
            #expect(second > first)
            for _ in 0..<10 { try life.turn() }
            cluster.answerReads()
            #expect(try life.turn { life.said.proved.last == second })
            // So does the commit of a batch that was proposed later.
            let third = life.journal.askForProof()
            for _ in 0..<10 { try life.turn() }
            life.vote()
            #expect(try life.turn { life.said.proved.last == third })
        }
        #expect(cluster.violations == [])
    }

    @Test func aLearnerIsPromotedWithNothingElseOnItsWay() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        try live(replica) { (life) throws in
            #expect(try life.turn { life.isLeading && life.last == last + 2 })
            // One that is no member: the change is refused, and its index is the next record's.
            cluster.say(.memberWanted(.promote, node: 7))
            for _ in 0..<20 {
                life.vote()
                try life.turn()
            }
            #expect(try life.turn { cluster.refusalCount == 1 })
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
            #expect(life.said.durable.last == life.last)
        }
        #expect(cluster.violations == [])
    }

    @Test func whatTheJournalLostIsGotAgain() throws {
        let (cluster, replica) = try started()
        defer { replica.stop() }
        var model = try LogModel(of: disk, behind: last)
        var generator = SeededGenerator(seed: 1)
        var reached: UInt64 = 0
        var lost = disk
        do {
            let life = try ReplicaLife(disk, replica.socketPath)
            #expect(try life.turn { life.isLeading && life.last == last + 2 })
            for _ in 0..<10 {
                life.vote()
                try life.turn()
            }
            #expect(try life.turn { life.isQuiet && life.last == cluster.last })
            reached = life.last
            life.die()
            lost = disk.afterPowerCut(&generator)
        }
        try live(replica, on: lost) { (life) throws in
            #expect(life.state.summary.last.number >= last)
            #expect(try life.turn { life.isLeading && life.last > reached })
            #expect(life.store.stateHash() == (try model.hash(life.last, cluster.log)))
        }
        #expect(cluster.violations == [])
    }
}
