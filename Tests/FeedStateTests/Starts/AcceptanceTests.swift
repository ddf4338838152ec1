import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

/// A loss is accepted whole or not at all, and what it drops is kept.
@Suite struct AcceptanceTests {
    private let disk: FakeDisk
    private let left: UInt64

    /// A state with a flipped bit in the middle of its journal.
    init() throws {
        disk = try WrittenState(seed: 6, turns: 60, checkpoints: false).disk.copy()
        let segments = disk.names.filter { $0.hasPrefix("journal/0") }
        let segment = segments[segments.count / 2]
        // The first record's body.
        disk[segment]?[4096 + 44] ^= 1
        guard case .loss(let loss) = Self.refusal(disk.copy()) else {
            throw StorageError.missingFile(path: segment)
        }
        left = loss.left
    }

    private static func refusal(_ disk: FakeDisk, acceptedLoss: UInt64? = nil) -> StateStartError? {
        do throws(StateStartError) {
            try MissingFileTests.start(disk, acceptedLoss: acceptedLoss)
            return nil
        } catch {
            return error
        }
    }

    @Test func whatIsDroppedIsKept() throws {
        let segments = disk.names.filter { $0.hasPrefix("journal/0") }
        let contents = segments.compactMap { disk[$0] }
        #expect(Self.refusal(disk, acceptedLoss: left) == nil)
        let kept = disk.names.filter { $0.hasPrefix("quarantine/") }
        #expect(!kept.isEmpty)
        // Each segment is in the journal or in quarantine, up to the zeros at its end.
        for (name, content) in zip(segments, contents) {
            let digits = name.dropFirst("journal/".count).dropLast(".log".count)
            let copies = kept.filter { $0.contains(digits) }.compactMap { disk[$0] }
            #expect(
                disk[name] != nil && copies.isEmpty
                    || copies.contains { content.starts(with: $0) && $0.count > 4096 },
                "\(name)"
            )
        }
        #expect(Self.refusal(disk) == nil)
    }

    @Test func aDryRunNamesWhatIsDroppedAndChangesNothing() throws {
        let before = disk.names.map { disk[$0] }
        var options = StateOptions(path: ".", logCount: 1)
        options.acceptedLoss = left
        let found = try StateVerification.run(
            StateDirectory(options, disk, vfs: disk.databaseDiskName)
        )
        #expect(found.lastRecord == left)
        #expect(found.droppedParts.contains { $0.file.hasPrefix("journal/0") })
        #expect(disk.names.map { disk[$0] } == before)
    }

    @Test("a checkpoint that was under way is told before its loss is accepted")
    func whatACheckpointHadBegunIsTold() throws {
        for seed in 1...99 as ClosedRange<UInt64> {
            let state = try WrittenState(seed: seed, turns: 60)
            let disk = state.disk.copy()
            let meta = try StateDatabase.look(
                directory: ".",
                files: disk,
                vfs: disk.databaseDiskName
            ).meta
            guard meta.isCheckpointing else { continue }
            // The hash of the first record that is not checkpointed.
            let checkpointedCount = state.records(upTo: meta.checkpointed.number).count
            let (name, range) = state.records(upTo: meta.checkpointing.number)[checkpointedCount]
            disk[name]?[range.lowerBound + 32] ^= 1
            guard case .loss(let loss) = Self.refusal(disk.copy())
            else { throw Unexpected("the directory was served") }
            #expect(loss.partlyCheckpointed == meta.checkpointing.number)
            var options = StateOptions(path: ".", logCount: 1)
            options.acceptedLoss = loss.left
            let directory = StateDirectory(options, disk, vfs: disk.databaseDiskName)
            #expect(
                try StateVerification.run(directory).partlyCheckpointed
                    == meta.checkpointing.number
            )
            return
        }
        Issue.record("no state has a checkpoint under way")
    }

    @Test func anotherNumberIsRefusedWithTheRightOne() throws {
        let refusal = Self.refusal(disk, acceptedLoss: 99999)
        guard case .storage(.otherLossAccepted(_, let last)) = refusal else {
            throw Unexpected("the loss was accepted")
        }
        #expect(last == left)
    }

    @Test func theLastRecordOfTheFilesIsRefusedWhereTheStateHasMore() throws {
        let whole = try WrittenState(seed: 6, turns: 60)
        let meta = try StateDatabase.look(
            directory: ".",
            files: whole.disk,
            vfs: whole.disk.databaseDiskName
        ).meta
        let checkpointed = meta.checkpointed.number
        // The files end before the checkpointed record.
        let (segment, range) = try #require(whole.records(upTo: checkpointed).last)
        let disk = whole.disk.copy()
        disk[segment]?.removeSubrange(range.lowerBound...)
        disk[segment]? += [UInt8](repeating: 0, count: (16 << 10) - range.lowerBound)
        for name in disk.names where name.hasPrefix("journal/0") && name > segment {
            disk[name] = nil
        }
        let refusal = Self.refusal(disk, acceptedLoss: checkpointed - 1)
        guard case .storage(.otherLossAccepted(_, let last)) = refusal else {
            throw Unexpected("the loss was accepted")
        }
        #expect(last == checkpointed)
        #expect(Self.refusal(disk, acceptedLoss: last) == nil)
    }

    @Test func interruptedAnywhereItIsNamedAndFinishedByRepeatingIt() throws {
        var interrupted = 0
        var isDone = false
        for calls in 0..<400 where !isDone {
            var generator = SeededGenerator(seed: UInt64(calls))
            let attempt = disk.copy()
            attempt.callsUntilPowerCut = calls
            isDone = Self.refusal(attempt, acceptedLoss: left) == nil
            let found = attempt.afterPowerCut(&generator)
            switch Self.refusal(found.copy()) {
            case nil: break
            case .loss(let loss): #expect(loss.left == left, "after \(calls) calls")
            case .interruptedAcceptance(let after):
                #expect(after == left, "after \(calls) calls")
                interrupted += 1
            case let other?: Issue.record("after \(calls) calls: \(other)")
            }
            #expect(Self.refusal(found, acceptedLoss: left) == nil, "after \(calls) calls")
            #expect(Self.refusal(found) == nil, "after \(calls) calls")
        }
        #expect(isDone)
        #expect(interrupted > 0)
    }

    @Test func aNewInstanceKeepsTheStateAndMayBeInterrupted() throws {
        let whole = try WrittenState(seed: 7, turns: 60).disk.copy()
        let hash = try StateVerification.run(Self.directory(whole)).stateHash
        var isDone = false
        for calls in 0..<400 where !isDone {
            var generator = SeededGenerator(seed: UInt64(calls))
            let attempt = whole.copy()
            attempt.callsUntilPowerCut = calls
            isDone = (try? InstanceChange.run(Self.directory(attempt))) != nil
            let found = attempt.afterPowerCut(&generator)
            #expect(Self.refusal(found) == nil, "after \(calls) calls")
            let verified = try StateVerification.run(Self.directory(found))
            #expect(verified.stateHash == hash, "after \(calls) calls")
        }
        #expect(isDone)
    }

    private static func directory(_ disk: FakeDisk) -> StateDirectory {
        var options = StateOptions(path: ".", logCount: 1)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 0
        return StateDirectory(options, disk, vfs: disk.databaseDiskName)
    }
}

/// A start after the process was killed on a disk without a free byte.
@Suite struct FullDiskStartTests {
    /// A disk that is full, whose `state.db` has a log that has to go into the file.
    private func fullDisk() throws -> FakeDisk {
        for seed in 1...20 as ClosedRange<UInt64> {
            let disk = try WrittenState(seed: seed, turns: 100).disk.copy()
            guard disk["state.db-wal"]?.isEmpty == false else { continue }
            disk["ballast"] = [UInt8](repeating: 0, count: Self.ballast)
            disk.capacity = disk.names.reduce(0) { $0 + (disk[$1]?.count ?? 0) }
            return disk
        }
        throw StorageError.missingFile(path: "state.db-wal")
    }

    private static let ballast = 4 << 20

    /// What the journal may take then; the process dies after it.
    private func start(_ disk: FakeDisk) throws(StateStartError) -> SpaceWatch.Mode? {
        var options = StateOptions(path: ".", logCount: 2)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = Self.ballast
        let life = try RecoveredState(
            StateDirectory(options, disk, vfs: disk.databaseDiskName),
            into: FeedStore(stripeCount: 2) { 1 },
            channels: { _ in }
        )
        let database = life.checkpointWork.database
        let mode = try? life.journal.checkSpace()
        #expect(life.summary.gaveUpBallast == (mode == .readOnly))
        disk.die()
        withExtendedLifetime(database) {}
        disk.revive()
        return mode
    }

    @Test func givesUpTheBallastAndIsReadOnly() throws {
        let disk = try fullDisk()
        // Each write that grows a file needs room, that of state.db too.
        disk.failure = { [unowned disk] call, name in
            disk["ballast"] != nil && call == .write && name == "state.db" ? ENOSPC : nil
        }
        #expect(try start(disk) == .readOnly)
        #expect(disk["ballast"] == nil)
        disk.failure = { _, _ in nil }
        disk.capacity = .max
        #expect(try start(disk) == .writable)
    }

    @Test func verificationWritesNothing() throws {
        let disk = try fullDisk()
        let before = disk.names.map { disk[$0] }
        disk.failure = { call, _ in
            let changing: [FakeDisk.Call] = [
                .create, .rename, .remove, .allocate, .write, .truncate, .sync, .syncDirectory,
            ]
            return changing.contains(call) ? EROFS : nil
        }
        let options = StateOptions(path: ".", logCount: 1)
        _ = try StateVerification.run(StateDirectory(options, disk, vfs: disk.databaseDiskName))
        #expect(disk.names.map { disk[$0] } == before)
    }

    @Test func withoutRoomItSaysHowMuchToFree() throws {
        let disk = try fullDisk()
        disk["ballast"] = nil
        disk.capacity = disk.names.reduce(0) { $0 + (disk[$1]?.count ?? 0) }
        disk.failure = { call, name in call == .write && name == "state.db" ? ENOSPC : nil }
        do throws(StateStartError) {
            _ = try start(disk)
            Issue.record("the directory was served")
        } catch {
            guard case .full(let needed, _) = error else { throw Unexpected(error) }
            #expect(needed >= 16 << 10)
        }
    }

    @Test func aNewInstanceWithoutRoomSaysHowMuchToFreeToo() throws {
        let whole = try WrittenState(seed: 7, turns: 60).disk.copy()
        var options = StateOptions(path: ".", logCount: 1)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 0
        var isDone = false
        // The disk is full at each write of the change, one after the other.
        for allowed in 0..<200 where !isDone {
            let disk = whole.copy()
            var count = 0
            disk.failure = { call, name in
                guard call == .write, name.hasPrefix("state.db") else { return nil }
                count += 1
                return count > allowed ? ENOSPC : nil
            }
            let directory = StateDirectory(options, disk, vfs: disk.databaseDiskName)
            do throws(StateStartError) {
                _ = try InstanceChange.run(directory)
                isDone = true
            } catch {
                guard case .full = error
                else { throw Unexpected("after \(allowed) writes: \(error)") }
                disk.failure = { _, _ in nil }
                #expect(throws: Never.self) { try InstanceChange.run(directory) }
            }
        }
        #expect(isDone)
    }
}

/// A directory that has served has all its files, or is refused.
@Suite struct MissingFileTests {
    private let state: WrittenState

    init() throws { state = try WrittenState(seed: 5, turns: 40, checkpoints: false) }

    /// What a start says of the files; nil where it serves them.
    private func refusal(_ disk: FakeDisk, acceptedLoss: UInt64? = nil) -> StateStartError? {
        do throws(StateStartError) {
            try Self.start(disk, acceptedLoss: acceptedLoss)
            return nil
        } catch {
            return error
        }
    }

    /// Starts, and lets the process die.
    static func start(_ disk: FakeDisk, acceptedLoss: UInt64? = nil) throws(StateStartError) {
        var options = StateOptions(path: ".", logCount: 2)
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 0
        options.acceptedLoss = acceptedLoss
        let life = try RecoveredState(
            StateDirectory(options, disk, vfs: disk.databaseDiskName),
            into: FeedStore(stripeCount: 2) { 1 },
            channels: { _ in }
        )
        let database = life.checkpointWork.database
        disk.die()
        withExtendedLifetime(database) {}
        disk.revive()
    }

    private func names(_ disk: FakeDisk, _ prefix: String) -> [String] {
        disk.names.filter { $0.hasPrefix(prefix) }
    }

    @Test func theWatermarkIsMissed() throws {
        let disk = state.disk.copy()
        disk["durable.hwm"] = nil
        guard case .loss(let loss) = refusal(disk), case .missingWatermark(let last) = loss.problem
        else { throw Unexpected("the directory was served") }
        #expect(loss.left == last)
        #expect(refusal(disk, acceptedLoss: last) == nil)
        // From then on it is there again.
        #expect(refusal(disk) == nil)
    }

    @Test func aSpoiledWatermarkIsMissed() throws {
        let disk = state.disk.copy()
        disk["durable.hwm"] = []
        guard case .loss(let loss) = refusal(disk), case .missingWatermark = loss.problem
        else { throw Unexpected("the directory was served") }
    }

    @Test func theWatermarkAndTheNewestSegmentAreMissed() throws {
        let disk = state.disk.copy()
        disk["durable.hwm"] = nil
        disk[try #require(names(disk, "journal/0").last)] = nil
        guard case .loss = refusal(disk) else { throw Unexpected("the directory was served") }
    }

    @Test func aStateAloneIsRefused() throws {
        let disk = state.disk.copy()
        for name in disk.names where !name.hasPrefix("state.db") { disk[name] = nil }
        guard case .loss(let loss) = refusal(disk)
        else { throw Unexpected("the directory was served") }
        #expect(loss.left == 0)
        #expect(loss.known > 0)
    }

    @Test func aDirectoryWithoutItsStateIsRefused() throws {
        for kept in ["durable.hwm", "journal/0", "state.db-wal"] {
            let disk = state.disk.copy()
            for name in disk.names where !name.hasPrefix(kept) { disk[name] = nil }
            guard case .missingDatabase = refusal(disk)
            else { throw Unexpected("the directory was served: \(disk.names)") }
        }
    }

    @Test func aDirectoryOfOtherFilesIsRefused() throws {
        let disk = FakeDisk()
        disk["lost+found/x"] = [1]
        disk[".hidden"] = [1]
        #expect(refusal(disk.copy()) == nil)
        disk["report.odt"] = [1]
        guard case .foreignFile("report.odt") = refusal(disk)
        else { throw Unexpected("the directory was served") }
        #expect(disk.names == [".hidden", "lost+found/x", "report.odt"])
    }

    @Test func aDirectoryOfVersion01IsServedAndThenNoted() throws {
        let disk = state.disk.copy()
        try dropRecord(disk)
        #expect(refusal(disk) == nil)
        disk["durable.hwm"] = nil
        guard case .loss = refusal(disk) else { throw Unexpected("the directory was served") }
    }

    /// Makes `state.db` what version 0.1 made: without the table of the other files.
    private func dropRecord(_ disk: FakeDisk) throws {
        let database = try StateDatabase(directory: ".", files: disk, vfs: disk.databaseDiskName)
        try database.connection.execute("DROP TABLE directory")
        try database.connection.checkpointLog()
    }
}

@Suite struct RefusedDirectoryTests {
    @Test(arguments: [(false, nil), (true, nil), (false, 7)] as [(Bool, UInt64?)])
    func aFilledJournalAloneIsRefusedBeforeTheLockIsMade(
        mustExist: Bool,
        acceptedLoss: UInt64?
    ) throws {
        let directory = try DataDirectory()
        try directory.files.createDirectory("journal")
        try directory.write("journal/segment.log", [1])
        try directory.files.remove("lock")
        directory.unlock()
        var options = StateOptions(path: directory.path, logCount: 1)
        options.mustExist = mustExist
        options.acceptedLoss = acceptedLoss
        do throws(StateStartError) {
            _ = try StateDirectory(options)
            Issue.record("the directory was locked")
        } catch {
            guard case .missingDatabase = error else { throw error }
            #expect(error.exitStatus == 5)
        }
        #expect(try POSIXFiles.names(atPath: directory.path) == ["journal"])
        #expect(try POSIXFiles.names(atPath: "\(directory.path)/journal") == ["segment.log"])
    }
}
