import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

/// A directory of one machine that became a cluster's, on a disk in memory.
@Suite struct ClusterDirectoryTests {
    private let disk = FakeDisk()
    private let clock = Locked<Int64>(1_000)
    /// The first revision of the first run, and of each later one above that of the one before.
    private static let run: UInt64 = 1 << 24

    private static var configuration: JournalConfiguration {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 1 << 20
        journal.space.ballastByteCount = 0
        return journal
    }

    private func start(_ disk: FakeDisk) throws(StateStartError) -> DurableLife {
        try DurableLife(disk, Self.configuration, clock: clock)
    }

    /// One life, which ends as a process that is killed, on a disk that lives on.
    private func live(_ disk: FakeDisk? = nil, _ body: (inout DurableLife) throws -> Void) throws {
        let disk = disk ?? self.disk
        defer { disk.revive() }
        try liveToTheEnd(disk, body)
    }

    private func liveToTheEnd(
        _ disk: FakeDisk,
        _ body: (inout DurableLife) throws -> Void
    ) throws {
        var life = try start(disk)
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        try body(&life)
    }

    private func beginCluster() throws -> ClusterBeginning {
        try ClusterBeginning.run(DurableLife.directory(disk, Self.configuration))
    }

    private func verify(_ disk: FakeDisk? = nil, all: Bool = false) throws -> StateVerification {
        let directory = DurableLife.directory(disk ?? self.disk, Self.configuration)
        return try StateVerification.run(directory, 2, replaysAll: all)
    }

    private func refusal(
        servingCluster: Bool = true,
        accepting loss: UInt64? = nil
    ) throws -> StateStartError {
        do throws(StateStartError) {
            var options = StateOptions(path: ".", logCount: 2)
            options.journal = Self.configuration
            options.servesCluster = servingCluster
            options.acceptedLoss = loss
            _ = try RecoveredState(
                StateDirectory(options, disk, vfs: disk.databaseDiskName),
                into: FeedStore(stripeCount: 4) { 0 },
                channels: { _ in }
            )
        } catch {
            if servingCluster, loss == nil { try expectRefusedVerification(error) }
            return error
        }
        throw StatePowerCutRun.Complaint(text: "It was served.")
    }

    /// A verification refuses what a start does, in the same words.
    private func expectRefusedVerification(_ error: StateStartError) throws {
        do throws(StateStartError) {
            let directory = DurableLife.directory(disk, Self.configuration)
            _ = try StateVerification.run(directory, 2)
            Issue.record("The verification found nothing: \(error)")
        } catch let found {
            #expect("\(found)" == "\(error)")
            #expect(found.exitStatus == error.exitStatus)
        }
    }

    /// A directory with two records of one machine and some of the cluster; gives the beginning.
    private func makeCluster(_ entries: [[LogEntry]] = []) throws -> ClusterBeginning {
        try live { try $0.commit([StateFixture.post(7, revision: Self.run + 1)]) }
        let begun = try beginCluster()
        try live { life in
            for batch in entries { try life.commit(batch) }
        }
        return begun
    }

    /// A record with one entry, and the head that a chain gives it.
    private static func sealed(by chain: RecordChain, entryCount: Int = 1) -> [UInt8] {
        var body = [UInt8](repeating: 0, count: RecordHead.byteCount)
        body += StateFixture.body([.evictedChannel(1)])
        chain.seal(&body, entryCount: entryCount, at: 0)
        return body
    }

    /// Appends a record as it is, behind all others.
    private func append(_ body: [UInt8]) throws {
        let database = try StateDatabase.look(
            directory: ".",
            files: disk,
            vfs: disk.databaseDiskName
        )
        var configuration = Self.configuration
        configuration.instanceID = database.meta.instanceID
        let checkpointed = database.meta.checkpointed
        let journal = try SegmentJournal(disk, configuration, checkpointed: checkpointed)
        _ = try journal.append(body.span, count: 1, at: 0)
    }

    @Test func itKeepsItsStateAndItsRecordsGetHeads() throws {
        let post = StateFixture.post(8, revision: 2 * Self.run + 2)
        let begun = try makeCluster([[post]])
        #expect(begun.last.number == 2)
        var chain = RecordChain(after: begun.last)
        try live { life in
            #expect(life.store.postCount == 2)
            var number: UInt64 = 0
            try life.state.journal.replay(after: 0) { record, body in
                number = record.position.number
                let head = try? chain.take(body, record: number)
                #expect((head == nil) == (number <= 2))
                #expect(head?.microseconds ?? record.microseconds == record.microseconds)
                return true
            }
            // The start of the second life, its record, and the start of this one.
            #expect(number == 5)
            #expect(life.state.checkpointWork.chain == chain)
        }
        let verified = try verify(all: true)
        #expect(verified.chain == chain.hash)
        #expect(verified.replayedHash == verified.stateHash)
    }

    /// As after a restore, before a service has begun its journal.
    @Test func aStateWithoutARecordIsRefused() throws {
        _ = try StateDatabase.create(directory: ".", files: disk, vfs: disk.databaseDiskName)
        do throws(StateStartError) {
            let directory = DurableLife.directory(disk, Self.configuration)
            _ = try ClusterBeginning.run(directory, mustHaveRecord: true)
            Issue.record("It was begun.")
        } catch {
            guard case .noRecord = error else { throw error }
        }
        // It is one machine's still.
        try live { _ in }
        #expect(try beginCluster().last.number > 0)
    }

    @Test func itIsBegunAgainAsLongAsItHasNoRecord() throws {
        try live { try $0.commit([StateFixture.post(7, revision: Self.run + 1)]) }
        let begun = try beginCluster()
        #expect(begun.cluster.count == 32)
        #expect(begun.cluster.hasPrefix(hexadecimal(begun.instanceID)))
        let names = disk.names
        #expect(try beginCluster() == begun)
        #expect(disk.names == names)
        try live { try $0.commit([StateFixture.post(8, revision: 9 * Self.run)]) }
        do throws(StateStartError) {
            _ = try ClusterBeginning.run(DurableLife.directory(disk, Self.configuration))
            Issue.record("It was begun with records of the cluster.")
        } catch {
            guard case .ofCluster = error else { throw error }
        }
    }

    @Test func aCheckpointKeepsTheChain() throws {
        _ = try makeCluster()
        var chain = RecordChain.ofOneMachine
        try live { life in
            try life.commit([StateFixture.post(8, revision: 3 * Self.run + 3)])
            try life.checkpoint()
            let meta = life.state.checkpointWork.database.meta
            #expect(meta.checkpointed == life.state.journal.last)
            #expect(meta.chain == life.state.checkpointWork.chain)
            chain = meta.chain
        }
        try live { life in
            #expect(life.state.summary.recordCount == 0)
            var record: UInt64 = 0
            try life.state.journal.replay(after: 5) { found, body in
                record = found.position.number
                _ = try? chain.take(body, record: record)
                return true
            }
            #expect(record == 6 && chain == life.state.checkpointWork.chain)
        }
    }

    @Test func oneMachinesDirectoryStaysOne() throws {
        for _ in 0..<2 {
            try live { try $0.commit([StateFixture.post(7, revision: 9 * Self.run)]) }
        }
        let database = try StateDatabase.look(
            directory: ".",
            files: disk,
            vfs: disk.databaseDiskName
        )
        #expect(database.format == 4 && !database.meta.chain.isOfCluster)
        let names = disk.names
        #expect(names.allSatisfy { !$0.contains("format") })
        try live { life in
            try life.state.journal.replay(after: 0) { record, body in
                let head = try? RecordHead(of: body, record: record.position.number)
                #expect(head == nil)
                return true
            }
        }
        #expect(try verify().chain == nil)
    }

    @Test func anOlderProgramRefusesIt() throws {
        _ = try makeCluster()
        let known = StateMigration.all.dropLast()
        #expect(throws: StorageError.newerFormat(file: "state.db", format: 4, known: 3)) {
            try StateDatabase(
                directory: ".",
                files: disk,
                vfs: disk.databaseDiskName,
                migrations: Array(known)
            )
        }
    }

    /// As no replica is there that would agree.
    @Test func aServiceOfOneMachineRefusesIt() throws {
        _ = try makeCluster()
        let error = try refusal(servingCluster: false)
        guard case .ofCluster = error else { throw error }
        #expect(error.exitStatus == 4)
        var options = StateOptions(path: ".", logCount: 1)
        options.journal = Self.configuration
        #expect(throws: StateStartError.self) {
            try InstanceChange.run(StateDirectory(options, disk, vfs: disk.databaseDiskName))
        }
        #expect(throws: StateStartError.self) { try beginCluster() }
        // Who only looks may look.
        #expect(try verify().lastRecord == 3)
    }

    /// Also of records before the beginning, whose numbers new records with heads would get.
    @Test func noLossOfAClusterIsAccepted() throws {
        let begun = try makeCluster()
        for name in disk.names where name.hasPrefix("journal/0") { disk[name] = nil }
        #expect(try refusal().exitStatus == 5)
        let names = disk.names
        let error = try refusal(accepting: begun.last.number - 2)
        guard case .ofCluster = error else { throw error }
        #expect(disk.names == names)
        // Nor would one be by a look at what would be left.
        var options = StateOptions(path: ".", logCount: 1)
        options.acceptedLoss = 0
        let looked = StateDirectory(options, disk, vfs: disk.databaseDiskName)
        #expect(throws: StateStartError.self) { try StateVerification.run(looked, 2) }
    }

    /// Each but the first record of the cluster is checked against the one before.
    @Test func aRecordOfAnotherChainIsRefused() throws {
        let begun = try makeCluster()
        try append(Self.sealed(by: RecordChain(after: begun.last)))
        let error = try refusal()
        guard case .storage(.head(.otherChain(record: 4, begun.last.hash, _))) = error else {
            throw error
        }
        #expect(error.exitStatus == 5)
        #expect(throws: StateStartError.self) { try verify() }
    }

    @Test func aRecordWithoutAHeadIsRefused() throws {
        _ = try makeCluster()
        try append(StateFixture.body([.evictedChannel(1)]))
        let error = try refusal()
        guard case .storage(.head(.missing(record: 4))) = error else { throw error }
    }

    @Test func aRecordWithFewerEntriesThanItsHeadSaysIsRefused() throws {
        _ = try makeCluster()
        var chain = RecordChain.ofOneMachine
        try live { chain = $0.state.checkpointWork.chain }
        try append(Self.sealed(by: chain, entryCount: 2))
        let error = try refusal()
        guard case .storage(.head(.otherCount(record: 5, found: 1, expected: 2))) = error else {
            throw error
        }
    }

    @Test func aRecordOfANewerLevelIsRefused() throws {
        _ = try makeCluster()
        var body = Self.sealed(by: RecordChain(after: .start))
        body[8] = 9
        try append(body)
        let error = try refusal()
        guard case .storage(.head(.newerLevel(record: 4, level: 9, known: 2))) = error else {
            throw error
        }
        #expect(error.exitStatus == 4)
    }

    /// Also where the records of the level are checkpointed and gone.
    @Test func aStateOfANewerLevelIsRefused() throws {
        let begun = try makeCluster()
        try live { life in
            try life.state.checkpointWork.database.update { meta in
                meta.chain = RecordChain(after: begun.last, level: 9)
            }
        }
        let error = try refusal()
        guard case .storage(.head(.newerLevel(record: 0, level: 9, known: 2))) = error else {
            throw error
        }
        #expect(throws: StateStartError.self) { try verify() }
    }

    /// It would be served as one machine's otherwise, by records without heads.
    @Test func aStateThatHasLostTheRowOfItsClusterIsDamaged() throws {
        _ = try makeCluster()
        do {
            let database = try Database(path: "state.db", vfs: disk.databaseDiskName)
            try database.execute("DELETE FROM cluster")
        }
        let error = try refusal(servingCluster: false)
        guard case .storage(.damagedRow(table: "cluster", _, _)) = error else { throw error }
        #expect(error.exitStatus == 5)
    }

    @Test func oneMachineRefusesTheRecordOfACluster() throws {
        try live { try $0.commit([StateFixture.post(7, revision: Self.run + 1)]) }
        try append(Self.sealed(by: RecordChain(after: .start)))
        let error = try refusal()
        guard case .storage(.head(.unexpected(record: 3))) = error else { throw error }
    }

    /// An eviction is logged by another loop than its channel's, and is read before it.
    @Test func anEvictedChannelIsForgottenByAStartAndByACheckpoint() throws {
        _ = try makeCluster()
        let channel = ChannelState(number: 4, clientHigh: 7, clientLow: 8, channel: 1)
        let kept = ChannelState(number: 5, clientHigh: 7, clientLow: 8, channel: 2)
        let outcome = ChannelOutcome(channel: 4, sequence: 1, requestHash: 9, outcome: .done)
        try live { life in
            try life.commit(
                [.evictedChannel(4)],
                [.channel(channel), .outcome(outcome), .channel(kept)]
            )
        }
        try live { life in
            #expect(life.channels.names == [2])
            try life.checkpoint()
        }
        try live { life in
            #expect(life.state.summary.recordCount == 0)
            #expect(life.channels.names == [2])
            // Its number is not given again.
            #expect(life.state.checkpointWork.database.meta.nextChannel == 6)
            try life.commit([.evictedChannel(5)])
            try life.checkpoint()
        }
        try live { #expect($0.channels.names == []) }
    }

    /// A backup of the cluster, put on another machine as a copy.
    @Test func aCopyContinuesOnAnotherMachine() throws {
        _ = try makeCluster()
        let other = FakeDisk()
        var chain = RecordChain.ofOneMachine
        try live { life in
            try life.commit([StateFixture.post(8, revision: 3 * Self.run + 3)])
            try life.checkpoint()
            let database = life.state.checkpointWork.database
            chain = database.meta.chain
            let name = try BackupFixture.make(database)
            other["state.db"] = disk["backups/\(name)/state.db"]
        }
        let directory = DurableLife.directory(other, Self.configuration)
        do {
            let copy = try StateDatabase(
                directory: ".",
                files: other,
                vfs: other.databaseDiskName
            )
            try directory.beginJournal(behind: copy)
        }
        #expect(try verify(other).chain == chain.hash)
        for count in 2...3 as ClosedRange<UInt64> {
            try live(other) { life in
                #expect(life.store.postCount == count)
                #expect(other.names.contains("journal/00000000000000000006.log"))
                let revision = 20 * count * Self.run
                try life.commit([StateFixture.post(8 + count, revision: revision)])
            }
        }
        #expect(try verify(other).lastRecord == 9)
        // Nothing that the other machine alone had can be had here.
        #expect(throws: StateStartError.self) { try verify(other, all: true) }
    }

    @Test func aCopyIsBegunAgainAfterAnInterruption() throws {
        _ = try makeCluster()
        let source = FakeDisk()
        try live { life in
            try life.checkpoint()
            let name = try BackupFixture.make(life.state.checkpointWork.database)
            source["state.db"] = disk["backups/\(name)/state.db"]
        }
        func begin(_ disk: FakeDisk) throws {
            let copy = try StateDatabase(directory: ".", files: disk, vfs: disk.databaseDiskName)
            try DurableLife.directory(disk, Self.configuration).beginJournal(behind: copy)
        }
        var isWhole = false
        for calls in 0..<200 where !isWhole {
            let other = source.copy()
            other.callsUntilPowerCut = calls
            isWhole = (try? begin(other)) != nil
            other.die()
            other.revive()
            let hasSegment = other.names.contains { $0.hasPrefix("journal/0") }
            if !hasSegment { try begin(other) }
            try live(other) { #expect($0.store.postCount == 1) }
        }
        #expect(isWhole)
    }

    /// On real files, as only those are told from their copies.
    @Test func aCopyBecomesTheFileOfItsDirectory() throws {
        let (directory, other) = (try DataDirectory(), try DataDirectory())
        func opened(_ directory: DataDirectory) -> StateDirectory {
            var options = StateOptions(path: directory.path, logCount: 1)
            options.journal = Self.configuration
            options.journal.space.ballastByteCount = 1 << 16
            options.servesCluster = true
            return StateDirectory(options, directory.files)
        }
        func started(_ directory: DataDirectory) throws(StateStartError) -> RecoveredState {
            let store = FeedStore(stripeCount: 4) { 0 }
            return try RecoveredState(opened(directory), into: store, channels: { _ in })
        }
        _ = try directory.create()
        _ = try ClusterBeginning.run(opened(directory))
        var state = try started(directory)
        state.checkpointWork.begin()
        while state.checkpointWork.isCheckpointing {
            try state.checkpointWork.writeStep(until: { false })
        }
        let last = state.journal.last
        let name = try BackupFixture.make(state.checkpointWork.database)
        try other.write("state.db", directory.read("backups/\(name)/state.db"))
        do {
            let copy = try other.open()
            #expect(copy.meta.checkpointed == last)
            try opened(other).beginJournal(behind: copy)
        }
        #expect(try started(other).journal.last.number == last.number + 1)
    }

    /// No start would take the records with heads after it.
    @Test func aBackupOlderThanTheClusterIsNotPutInPlace() throws {
        let source = FakeDisk()
        try live { life in
            try life.commit([StateFixture.post(7, revision: Self.run + 1)])
            try life.checkpoint()
            let name = try BackupFixture.make(life.state.checkpointWork.database)
            source["state.db"] = disk["backups/\(name)/state.db"]
        }
        let begun = try beginCluster()
        try live { _ in }
        let backup = try #require(try source.open("state.db"))
        let error = #expect(throws: RestoreError.self) {
            try InPlaceRestore.run(backup, of: "/mnt/a", in: ".", disk, vfs: disk.databaseDiskName)
        }
        let expected = StorageError.head(.unexpected(record: begun.last.number + 1))
        guard case .notContinued(_, _, problem: expected) = error else {
            throw StatePowerCutRun.Complaint(text: "\(String(describing: error))")
        }
        try live { #expect($0.store.postCount == 1) }
    }

    @Test func aRestoredBackupIsOneMachines() throws {
        _ = try makeCluster()
        let other = FakeDisk()
        try live { life in
            try life.checkpoint()
            let name = try BackupFixture.make(life.state.checkpointWork.database)
            let source = FakeDisk()
            source["state.db"] = disk["backups/\(name)/state.db"]
            guard let file = try source.open("state.db") else { return }
            try BackupRestore.run(
                file,
                typed: RestoreSource(path: "/mnt/one"),
                into: ".",
                other,
                vfs: other.databaseDiskName
            )
        }
        try live(other) { life in
            #expect(!life.state.checkpointWork.chain.isOfCluster)
            #expect(life.store.postCount == 1 && life.state.logs.openBatch == 2)
        }
        // It may become another cluster's.
        let directory = DurableLife.directory(other, Self.configuration)
        #expect(try ClusterBeginning.run(directory).last.number == 1)
        try live(other) { life in
            #expect(life.state.checkpointWork.chain.beginning == 1)
        }
    }
}

extension DurableLife {
    /// A commit batch with these log entries of each of the two loops.
    mutating func commit(_ first: [LogEntry], _ second: [LogEntry] = []) throws {
        for (loop, entries) in [first, second].enumerated() {
            let log = state.logs[loop]
            log.transaction { for entry in entries { log.append(entry) } }
        }
        guard let (body, position) = try append() else { return }
        try state.checkpointWork.add(body, at: position)
    }

    /// Checkpoints all that was committed.
    mutating func checkpoint() throws {
        state.checkpointWork.begin()
        while state.checkpointWork.isCheckpointing {
            try state.checkpointWork.writeStep(until: { false })
        }
    }
}
