import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Glibc
import Testing

/// That a node takes the state of another one whole or not at all.
///
/// `FEED_POWER_CUTS` sets how many power cuts there are; `FEED_SEED` replays one run.
@Suite(.timeLimit(.minutes(10))) struct StateInstallTests {
    private let leader: LeadersState

    init() throws { leader = try LeadersState() }

    private struct Started: Equatable {
        var last: UInt64
        var hash: UInt64
        var installed: UInt64?
    }

    /// The new state, installed by this start or by one before.
    private func new(_ installed: UInt64? = nil) -> Started {
        Started(last: leader.record, hash: leader.hash, installed: installed)
    }

    /// Starts on a disk, which lives on.
    private func start(_ disk: FakeDisk) throws -> Started {
        let store = FeedStore(stripeCount: 4) { 5_000 }
        defer { disk.revive() }
        let state = try LeadersState.start(disk, into: store)
        let database = state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        return Started(
            last: state.journal.last.number,
            hash: store.stateHash(),
            installed: state.summary.installed
        )
    }

    private func install(
        _ install: StateInstall,
        _ bytes: [UInt8]? = nil
    ) throws(InstallError) {
        let source: any JournalFile
        do { source = try LeadersState.source(bytes ?? leader.file) } catch {
            preconditionFailure("\(error)")
        }
        try install.prepare(from: source) { true }
        try install.mark()
    }

    @Test func aPowerCutLeavesTheOldStateOrTheNewOne() throws {
        let wanted = Int(TestEnvironment.number("FEED_POWER_CUTS") ?? 2_000) / 4
        if let seed = TestEnvironment.number("FEED_SEED") {
            var run = InstallRun(leader, seed: seed)
            #expect(run.run() == nil, "seed \(seed)")
            return
        }
        var (cutCount, finishCount, runCount) = (0, 0, 0)
        var seed = TestEnvironment.firstSeed - 1
        while cutCount < wanted {
            seed += 1
            var run = InstallRun(leader, seed: seed)
            let complaint = run.run()
            #expect(complaint == nil, "seed \(seed)")
            if complaint != nil { return }
            cutCount += run.cutCount
            finishCount += run.finishCount
            runCount += 1
        }
        // Each run finishes one, and the start that does so may be cut off before it says so.
        #expect(finishCount > runCount / 4, "\(finishCount) of \(runCount)")
    }

    @Test func noticesADiskThatSyncsNothing() {
        let complaints = (1...60 as ClosedRange<UInt64>).compactMap { seed -> String? in
            var run = InstallRun(leader, seed: seed, ignoresSyncs: true)
            return run.run()
        }
        #expect(complaints.count > 3, "\(complaints.count) of 60 runs complained.")
    }

    @Test func anEmptyDirectoryGetsIt() throws {
        let disk = FakeDisk()
        #expect(try LeadersState.directory(disk).isWithoutState())
        try install(leader.install(in: disk))
        #expect(try !LeadersState.directory(disk).isWithoutState())
        #expect(try start(disk) == new(leader.record))
        #expect(disk.names.allSatisfy { !$0.hasPrefix("quarantine") })
        #expect(try start(disk) == new())
    }

    @Test func anOldStateIsKeptAndTheNewestOneOnly() throws {
        let disk = leader.begun.copy()
        let old = try #require(disk["state.db"])
        try install(leader.install(in: disk, beginning: leader.beginning))
        #expect(try start(disk) == new(leader.record))
        let folder = "quarantine/replaced-"
        #expect(disk["\(folder)1/state.db"] == old)
        #expect(disk["\(folder)1/durable.hwm"] != nil)
        #expect(disk.names.contains { $0.hasPrefix("\(folder)1/journal/0") })
        // Once more, over the one that was installed.
        try install(leader.install(in: disk))
        #expect(try start(disk) == new(leader.record))
        #expect(disk.names.contains { $0.hasPrefix("\(folder)2/") })
        #expect(!disk.names.contains { $0.hasPrefix("\(folder)1/") })
    }

    /// No other program takes a directory in the middle of it.
    @Test func onlyANodeFinishesIt() throws {
        let disk = leader.begun.copy()
        try install(leader.install(in: disk))
        var options = LeadersState.options
        options.replica = nil
        let others = StateDirectory(options, disk, vfs: disk.databaseDiskName)
        let refusals: [() throws -> Void] = [
            { _ = try StateVerification.run(others, 2) },
            { _ = try ClusterBeginning.run(others) },
            {
                let store = FeedStore(stripeCount: 4) { 5_000 }
                _ = try RecoveredState(others, into: store, channels: { _ in })
            },
        ]
        for refusal in refusals {
            do {
                try refusal()
                Issue.record("It was taken.")
            } catch let error as StateStartError {
                guard case .installInterrupted(_, leader.record) = error else { throw error }
                #expect(error.exitStatus == 5)
            }
        }
        #expect(throws: RestoreError.installing(directory: ".", record: leader.record)) {
            _ = try InPlaceRestore.run(
                LeadersState.source(leader.file),
                of: "/mnt/backups/one",
                in: ".",
                disk,
                vfs: disk.databaseDiskName
            )
        }
        #expect(try start(disk).last == leader.record)
    }

    @Test func anotherStateIsRefused() throws {
        let expected: [(StateInstall, InstallError)] = [
            (
                leader.install(in: leader.begun.copy(), of: leader.record + 1),
                .otherRecord(found: leader.record, expected: leader.record + 1)
            ),
            (
                leader.install(in: leader.begun.copy(), instanceID: 7),
                .otherCluster(found: leader.instanceID, expected: 7)
            ),
            (
                leader.install(in: leader.begun.copy(), beginning: leader.beginning + 1),
                .otherCluster(found: leader.instanceID, expected: leader.instanceID)
            ),
        ]
        for (other, error) in expected {
            #expect(throws: error) { try install(other) }
            #expect(error.exitStatus == 5)
        }
    }

    /// A flipped bit is found before the old state is touched, unless it is in bytes that nobody reads.
    @Test func aSpoiledFileIsRefused() throws {
        let disk = leader.begun.copy()
        let before = disk.copy()
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var refusedCount = 0
        for _ in 0..<200 {
            var bytes = leader.file
            let place = Int.random(in: bytes.indices, using: &generator)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            do throws(InstallError) {
                try install(leader.install(in: disk), bytes)
            } catch {
                refusedCount += 1
                #expect(disk.names == before.names, "byte \(place)")
                continue
            }
            #expect(try start(disk.copy()) == new(leader.record), "byte \(place)")
            for name in ["restoring", "state.db.new"] { disk[name] = nil }
        }
        #expect(refusedCount > 10, "\(refusedCount) of 200")
        for name in disk.names { #expect(disk[name] == before[name], "\(name)") }
        let cut = Array(leader.file.dropLast(4096))
        #expect(throws: InstallError.self) { try install(leader.install(in: disk), cut) }
        #expect(try start(disk).hash == leader.firstHash)
    }

    @Test func aMarkThatIsNotSyncedIsSaidToBeThere() throws {
        let disk = leader.begun.copy()
        let install = leader.install(in: disk)
        try install.prepare(from: LeadersState.source(leader.file)) { true }
        disk.failure = { call, name in call == .syncDirectory && name == "." ? EIO : nil }
        do throws(InstallError) {
            try install.mark()
            Issue.record("It was marked.")
        } catch {
            guard case .notSynced = error else { throw error }
            #expect("\(error)".hasPrefix("The next start puts it in place, as the file restoring"))
        }
        disk.failure = { call, _ in call == .rename ? EIO : nil }
        disk["restoring"] = nil
        do throws(InstallError) {
            try install.mark()
            Issue.record("It was marked.")
        } catch {
            guard case .failed = error else { throw error }
        }
        disk.failure = { call, name in call == .syncDirectory && name == "." ? EIO : nil }
        try? install.mark()
        disk.failure = { _, _ in nil }
        #expect(try start(disk) == new(leader.record))
    }

    @Test func aDiskWithoutRoomIsLeftAsItIs() throws {
        let disk = leader.begun.copy()
        let used = disk.names.reduce(0) { $0 + (disk[$1]?.count ?? 0) }
        disk.capacity = used + leader.file.count
        do {
            try install(leader.install(in: disk))
            Issue.record("It was installed.")
        } catch {
            guard case .noRoom(_, let needed, let free) = error else { throw error }
            #expect(needed > leader.file.count && free == leader.file.count)
            #expect("\(error)".contains("\(needed)") && error.exitStatus == 5)
        }
        disk.capacity = .max
        let old = Started(last: leader.beginning, hash: leader.firstHash)
        #expect(try start(disk) == old)
    }
}
