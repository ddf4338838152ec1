import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// A restore that is killed, or loses power, at each of its calls.
@Suite struct RestoreKillTests {
    @Test("a restore that was killed anywhere is not served, and finishes when it is run again")
    func isAllOrNothing() throws {
        let (source, hash) = try RestoreLife.backup()
        var interruptedCount = 0
        var callCount = 0
        var isWhole = false
        while !isWhole {
            let disk = FakeDisk()
            disk.callsUntilPowerCut = callCount
            isWhole = (try? RestoreLife.restore(source, disk)) != nil
            disk.die()
            disk.revive()
            interruptedCount += try Self.check(disk, source, hash, isWhole)
            callCount += 1
        }
        // Every call but the first ones, which make the marker, and the last ones, which remove it.
        #expect(interruptedCount > callCount - 10 && interruptedCount > 10)
    }

    @Test("a power cut at any call of a restore leaves no part of it that is served")
    func outlivesPowerCuts() throws {
        let (source, hash) = try RestoreLife.backup()
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var callCount = 0
        var isWhole = false
        while !isWhole {
            let disk = FakeDisk()
            disk.callsUntilPowerCut = callCount
            isWhole = (try? RestoreLife.restore(source, disk)) != nil
            disk.die()
            for _ in 0..<4 {
                let found = disk.afterPowerCut(&generator)
                _ = try Self.check(found, source, hash, isWhole)
            }
            callCount += 1
        }
        #expect(callCount > 20)
    }

    /// Expects nothing, all of it, or a marker that keeps a start away; then runs it again.
    ///
    /// Gives 1 where there was the marker.
    private static func check(
        _ disk: FakeDisk,
        _ source: any JournalFile,
        _ hash: UInt64,
        _ isWhole: Bool
    ) throws -> Int {
        let isMarked = disk.names.contains(BackupRestore.restoringName)
        if isMarked {
            #expect(!isWhole)
            let error = #expect(throws: StateStartError.self) { try RestoreLife.start(disk) }
            #expect(error?.description.contains("was interrupted") == true)
            #expect(error?.exitStatus == 5)
            // All that was typed or none: a part of it would be another restore.
            guard case .restoreInterrupted(_, let noted, let flags) = error else {
                Issue.record("\(String(describing: error))")
                return 0
            }
            #expect(noted == nil || noted == RestoreLife.typed.path)
            #expect(flags == (noted == nil ? [] : RestoreLife.typed.flags))
        } else if disk.names.contains(StateDatabase.fileName) {
            #expect(try RestoreLife.start(disk) == hash)
            return 0
        } else {
            // As before: a start would make a new directory of it, and so it would have before.
            #expect(disk.names.allSatisfy { $0.hasPrefix("state.db.new") })
            #expect(!isWhole)
        }
        try RestoreLife.restore(source, disk)
        #expect(try RestoreLife.start(disk) == hash)
        return isMarked ? 1 : 0
    }
}

/// Restores on a fake disk, and what a start finds there.
enum RestoreLife {
    /// The file of a backup, and the hash of the state in it without the sessions, which a restore ends.
    static func backup() throws -> (source: any JournalFile, hash: UInt64) {
        let disk = FakeDisk()
        let database = try StateDatabase.create(
            directory: ".",
            files: disk,
            vfs: disk.databaseDiskName
        )
        try StateFixture.fill(database)
        let hash = try StateFixture.storeHash(database, withSessions: false)
        let name = try BackupFixture.make(database)
        guard let source = try disk.copy().open("backups/\(name)/state.db") else {
            throw FileError("open", name, code: 2)
        }
        return (source, hash)
    }

    /// What is said to have been typed: a path of two sectors, which a power cut may tear.
    static let typed = RestoreSource(
        path: "/mnt/" + String(repeating: "feed/", count: 160),
        flags: ["--at", "2026-11-25T14:05:00Z"]
    )

    /// Restores it.
    static func restore(_ source: any JournalFile, _ disk: FakeDisk) throws {
        try BackupRestore.run(
            source,
            typed: typed,
            into: ".",
            disk,
            vfs: disk.databaseDiskName
        )
    }

    /// The hash of the state that a start serves, as far as it has no revisions of its own.
    static func start(_ disk: FakeDisk) throws -> UInt64 {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 16 << 10
        journal.space.ballastByteCount = 0
        journal.drawSalt = { TestSalt.next() }
        var options = StateOptions(path: ".", logCount: 1)
        options.journal = journal
        let copy = disk.copy()
        let directory = StateDirectory(options, copy, vfs: copy.databaseDiskName)
        let store = FeedStore(stripeCount: 4) { 0 }
        let recovered = try RecoveredState(directory, into: store, channels: { _ in })
        let database = recovered.checkpointWork.database
        defer {
            copy.die()
            withExtendedLifetime(database) {}
        }
        return try StateFixture.storeHash(database)
    }
}
