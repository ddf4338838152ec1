import FakeReplica
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedReplica
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// The directory of a machine that a cluster has left becomes another cluster's.
@Suite(.timeLimit(.minutes(10))) struct ClusterRecoveryTests {
    private let disk = FakeDisk()
    private let clock = Locked<Int64>(1_000)
    private static let run: UInt64 = 1 << 24

    private static var configuration: JournalConfiguration {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 16 << 10
        journal.space.ballastByteCount = 0
        journal.drawSalt = { TestSalt.next() }
        return journal
    }

    private static func directory(_ disk: FakeDisk) -> StateDirectory {
        DurableLife.directory(disk, configuration)
    }

    private static func recover(_ disk: FakeDisk) throws(StateStartError) -> ClusterRecovery {
        try ClusterRecovery.run(directory(disk))
    }

    private func verify(_ disk: FakeDisk, all: Bool = false) throws -> StateVerification {
        try StateVerification.run(Self.directory(disk), 2, replaysAll: all)
    }

    private static func meta(of disk: FakeDisk) throws -> StateMeta {
        try StateDatabase.look(directory: ".", files: disk, vfs: disk.databaseDiskName).meta
    }

    /// One life, which ends as a process that is killed, on a disk that lives on.
    private func live(_ disk: FakeDisk, _ body: (inout DurableLife) throws -> Void) throws {
        defer { disk.revive() }
        try liveToTheEnd(disk, body)
    }

    private func liveToTheEnd(
        _ disk: FakeDisk,
        _ body: (inout DurableLife) throws -> Void
    ) throws {
        var life = try DurableLife(disk, Self.configuration, clock: clock)
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        try body(&life)
    }

    /// A cluster's directory with four posts, some of them checkpointed, and several segments.
    private func makeCluster() throws {
        try live(disk) { try $0.commit([StateFixture.post(1, revision: Self.run + 1)]) }
        _ = try ClusterBeginning.run(Self.directory(disk))
        try live(disk) { life in
            try life.commit([StateFixture.post(2, revision: 3 * Self.run)])
            try life.checkpoint()
            for number in 1...300 as ClosedRange<UInt64> {
                let counts = PostCounts(
                    id: PostID(rawValue: 1),
                    upvoteCount: number,
                    downvoteCount: 0,
                    revision: 3 * Self.run + number
                )
                try life.commit([.counts(counts)])
            }
            try life.commit(
                [StateFixture.post(3, revision: 4 * Self.run)],
                [StateFixture.post(4, revision: 4 * Self.run + 1)]
            )
        }
        #expect(disk.names.filter { $0.hasPrefix("journal/0") }.count > 1)
    }

    @Test func itIsAnotherClusterBehindTheLastRecord() throws {
        try makeCluster()
        let (before, old) = (try verify(disk), try Self.meta(of: disk))
        let recovered = try Self.recover(disk)
        let (after, new) = (try verify(disk), try Self.meta(of: disk))
        #expect(recovered.old == old.instanceID && new.instanceID != old.instanceID)
        #expect(recovered.begun.instanceID == new.instanceID)
        #expect(recovered.begun.cluster == hexadecimal(new.instanceID) + hexadecimal(0))
        #expect(recovered.begun.last.number == before.lastRecord)
        // Tokens of the old cluster mean nothing, and the state is the same.
        #expect(new.pageTokenKey != old.pageTokenKey)
        #expect(after.stateHash == before.stateHash && after.chain == before.chain)
        #expect(after.lastRecord == before.lastRecord && after.postCount == 4)
        try live(disk) { life in
            #expect(life.store.postCount == 4)
            // What the others may have given is not given again.
            #expect(life.store.highestID == 4 + SkippedNumbers.postIDs)
            #expect(life.store.revision > SkippedNumbers.unknownRevisions)
            let (id, revision) = (life.store.highestID + 1, life.store.revision + 1)
            try life.commit([StateFixture.post(id, revision: revision)])
        }
        let gone = try verify(disk, all: true)
        #expect(gone.postCount == 5 && gone.replayedHash == gone.stateHash)
    }

    @Test func itSaysTheSameAgainUntilAServiceHasStarted() throws {
        try makeCluster()
        let recovered = try Self.recover(disk)
        #expect(try Self.recover(disk) == recovered)
        try live(disk) { _ in }
        let again = try Self.recover(disk)
        #expect(again.old == recovered.begun.instanceID)
        #expect(again.begun.instanceID != recovered.begun.instanceID)
        #expect(again.begun.last.number == recovered.begun.last.number + 1)
    }

    /// Of records that were not synced a power cut takes any part; what the new log begins behind stays.
    @Test func theRecordThatItNamesOutlivesAPowerCut() throws {
        try makeCluster()
        var replicated = Self.configuration
        replicated.durability = .replicated
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var lasts: Set<UInt64> = []
        for _ in 0..<40 {
            let machine = disk.copy()
            do {
                var life = try DurableLife(machine, replicated, clock: clock)
                let database = life.state.checkpointWork.database
                defer {
                    machine.die()
                    withExtendedLifetime(database) {}
                }
                for number in 1...30 as ClosedRange<UInt64> {
                    let revision = 9 * Self.run + number
                    try life.commit([StateFixture.post(4 + number, revision: revision)])
                }
            }
            let found = machine.afterPowerCut(&generator)
            let recovered = try Self.recover(found)
            let later = found.afterPowerCut(&generator)
            #expect(try verify(later).lastRecord == recovered.begun.last.number)
            #expect(try Self.recover(later) == recovered)
            lasts.insert(recovered.begun.last.number)
        }
        #expect(lasts.count > 1, "No power cut took a record.")
    }

    @Test func itIsTypedAgainAfterAnInterruptionAtAnyCall() throws {
        try makeCluster()
        let (whole, old) = (try verify(disk), try Self.meta(of: disk).instanceID)
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var (isEnded, drawnCount) = (false, 0)
        for calls in 0..<5_000 where !isEnded {
            let machine = disk.copy()
            machine.callsUntilPowerCut = calls
            isEnded = (try? Self.recover(machine)) != nil
            machine.die()
            let found = machine.endLife(&generator) ?? machine
            found.callsUntilPowerCut = .max
            let drawn = try Self.meta(of: found).instanceID
            if drawn != old { drawnCount += 1 }
            // Now and then somebody starts a service in between, which makes a record.
            let isServed = calls.isMultiple(of: 5)
            if isServed { try live(found) { #expect($0.store.postCount == 4) } }
            let recovered = try Self.recover(found)
            #expect(recovered.begun.last.number == whole.lastRecord + (isServed ? 1 : 0))
            if !isServed {
                #expect(recovered.old == old)
                #expect(drawn == old || drawn == recovered.begun.instanceID)
                #expect(try verify(found).stateHash == whole.stateHash)
            }
            try live(found) { #expect($0.store.postCount == 4) }
        }
        #expect(isEnded && drawnCount > 1)
    }

    private static func refusal(_ disk: FakeDisk) throws -> StateStartError {
        do throws(StateStartError) {
            _ = try recover(disk)
        } catch {
            return error
        }
        throw StatePowerCutRun.Complaint(text: "It was made another cluster.")
    }

    @Test func oneMachinesDirectoryIsRefused() throws {
        try live(disk) { _ in }
        let names = disk.names
        let error = try Self.refusal(disk)
        guard case .ofOneMachine = error else { throw error }
        #expect(error.exitStatus == 4 && disk.names == names)
    }

    /// No loss of this machine is accepted beside that of the others.
    @Test func whatAStartRefusesIsRefusedAndStaysAsItIs() throws {
        try makeCluster()
        let old = try Self.meta(of: disk).instanceID
        let segments = disk.names.filter { $0.hasPrefix("journal/0") }
        let lost = disk.copy()
        lost[try #require(segments.last)] = nil
        let names = lost.names
        #expect(try Self.refusal(lost).exitStatus == 5)
        #expect(lost.names == names)
        #expect(try Self.meta(of: lost).instanceID == old)
        let newer = disk.copy()
        do {
            let database = try StateDatabase(
                directory: ".",
                files: newer,
                vfs: newer.databaseDiskName
            )
            try database.update { $0.chain = RecordChain(after: .start, level: 9) }
        }
        #expect(try Self.refusal(newer).exitStatus == 4)
    }

    @Test func aFileOfTheOldClusterIsAnothers() throws {
        try makeCluster()
        let name = try #require(disk.names.last { $0.hasPrefix("journal/0") })
        let segment = disk[name]
        _ = try Self.recover(disk)
        try live(disk) { _ in }
        disk[name] = segment
        let error = try Self.refusal(disk)
        guard case .storage(.otherInstance) = error else { throw error }
        #expect(error.exitStatus == 4)
    }

    @Test func itIsNotBegunLikeOneMachines() throws {
        try makeCluster()
        _ = try Self.recover(disk)
        do throws(StateStartError) {
            _ = try ClusterBeginning.run(Self.directory(disk))
            Issue.record("It was begun.")
        } catch {
            guard case .ofCluster = error else { throw error }
        }
    }

    private func serve(
        beside replica: FakeReplica,
        _ body: (ReplicaLife) throws -> Void
    ) throws {
        defer { disk.revive() }
        try serveToTheEnd(replica, body)
    }

    private func serveToTheEnd(
        _ replica: FakeReplica,
        _ body: (ReplicaLife) throws -> Void
    ) throws {
        let life = try ReplicaLife(disk, replica.socketPath)
        defer {
            life.die()
            withExtendedLifetime(life) {}
        }
        try body(life)
    }

    @Test func theOldReplicaRefusesItAndANewOneServesIt() throws {
        let begun = try ReplicaLife.makeCluster(on: disk)
        let old = try FakeReplica(in: FakeCluster(begun.cluster, behind: begun.last))
        try old.start()
        defer { old.stop() }
        try serve(beside: old) { (life) throws in
            #expect(try life.turn { life.isLeading && life.last == begun.last + 2 })
            life.create("Last")
            #expect(try life.turn { life.last == begun.last + 3 })
        }
        let recovered = try Self.recover(disk)
        #expect(recovered.begun.last.number == begun.last + 3)
        #expect(recovered.lastMicroseconds > 0)
        try serve(beside: old) { (life) throws in
            while try life.turn() {}
            #expect(life.said.endings.map(\.exitStatus) == [2])
        }
        let cluster = FakeCluster(
            ClusterID(high: recovered.begun.instanceID, low: 0),
            behind: recovered.begun.last.number
        )
        let replica = try FakeReplica(in: cluster)
        try replica.start()
        defer { replica.stop() }
        for count in 1...2 as ClosedRange<UInt64> {
            try serve(beside: replica) { (life) throws in
                #expect(life.store.postCount == 1 + count)
                #expect(try life.turn { life.isLeading && life.isQuiet })
                life.create("New")
                #expect(try life.turn { life.isQuiet && life.last == cluster.committed })
            }
        }
        #expect(cluster.violations == [] && old.cluster.violations == [])
    }

    @Test func itIsMadeInARealDirectory() throws {
        let directory = try TemporaryDirectory()
        var options = StateOptions(path: directory.path + "/state", logCount: 2)
        options.journal.segmentByteCount = 1 << 20
        options.journal.space.ballastByteCount = 1 << 16
        options.servesCluster = true
        func start() throws -> UInt64 {
            let state = try RecoveredState(
                StateDirectory(options),
                into: FeedStore(stripeCount: 4) { 0 },
                channels: { _ in }
            )
            return state.checkpointWork.database.meta.instanceID
        }
        let old = try start()
        #expect(throws: StateStartError.self) { try ClusterRecovery.run(path: options.path) }
        _ = try ClusterBeginning.run(path: options.path)
        #expect(try start() == old)
        let recovered = try ClusterRecovery.run(path: options.path)
        #expect(recovered.old == old)
        #expect(try ClusterRecovery.run(path: options.path) == recovered)
        #expect(try start() == recovered.begun.instanceID)
        let none = options.path + "/none"
        #expect(throws: StateStartError.self) { try ClusterRecovery.run(path: none) }
        #expect(!FileManager.default.fileExists(atPath: none))
    }
}
