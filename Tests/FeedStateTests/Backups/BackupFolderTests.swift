import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Foundation
import Testing

@Suite struct BackupFolderTests {
    private let directory: DataDirectory
    private let database: StateDatabase

    init() throws { (directory, database) = try DataDirectory.created() }

    private static func open(
        _ options: StateOptions,
        _ events: DurableState.Events
    ) throws -> DurableState {
        let store = FeedStore(stripeCount: 4) { 0 }
        return try DurableState.open(
            StateDirectory(options),
            into: store,
            channels: { _ in },
            events: events
        )
    }

    @Test("so many are kept, and the oldest go only once a new one is complete")
    func keepsSoMany() throws {
        var names: [String] = []
        for count in 1...5 {
            names.append(try BackupFixture.make(database, keeping: 3))
            #expect(
                try BackupFolders.complete(directory.files) == names.suffix(min(count, 3)).sorted()
            )
        }
        #expect(Set(names).count == 5)
        // One that is begun and given up costs none of them.
        let kept = try BackupFolders.complete(directory.files)
        var options = BackupOptions()
        options.keptCount = 1
        let job = try BackupJob(of: database, options, reservedByteCount: 0)
        try job.open()
        while try !job.step() {}
        #expect(try BackupFolders.complete(directory.files) == kept)
        job.abandon()
        try database.thaw()
        #expect(try BackupFolders.complete(directory.files) == kept)
    }

    @Test("what a person has made, renamed or put there stays")
    func leavesOthersAlone() throws {
        let first = try BackupFixture.make(database)
        let second = try BackupFixture.make(database)
        try directory.files.rename("backups/\(first)", to: "backups/before-the-upgrade")
        try directory.write("backups/\(second)/note.txt", [1])
        try directory.files.createDirectory("backups/20270115")
        try directory.write("backups/readme", [1])
        let third = try BackupFixture.make(database, keeping: 1)
        let fourth = try BackupFixture.make(database, keeping: 1)
        #expect(third != fourth)
        #expect(
            try directory.files.names(in: "backups").sorted()
                == [second, fourth, "20270115", "before-the-upgrade", "readme"].sorted()
        )
        #expect(try directory.files.names(in: "backups/before-the-upgrade") == ["state.db"])
    }

    @Test("a clock that was set back does not make the newest the one that goes")
    func keepsTheNewest() throws {
        let past = try BackupFixture.make(database)
        let future = "29990101T000000000Z"
        try directory.files.rename("backups/\(past)", to: "backups/\(future)")
        let newest = try BackupFixture.make(database, keeping: 1)
        #expect(try BackupFolders.complete(directory.files) == [newest])
    }

    @Test("a backup that a clock ahead has named goes before one with a later state")
    func keepsTheLatestStates() throws {
        let first = try BackupFixture.make(database)
        try directory.files.rename("backups/\(first)", to: "backups/29990101T000000000Z")
        try StateFixture.fill(database)
        let second = try BackupFixture.make(database)
        let third = try BackupFixture.make(database, keeping: 2)
        #expect(try BackupFolders.complete(directory.files) == [second, third])
    }

    @Test("a start whose clock is not where the journal left it makes a scheduled backup at once")
    func trustsNoNameAfterAStep() throws {
        let directory = try DataDirectory()
        directory.unlock()
        let clock = Locked<TimeInterval>(1_800_000_000)
        let made = Locked<[String]>([])
        let isMade = DispatchSemaphore(value: 0)
        func serve() throws -> Bool {
            var options = StateOptions(path: directory.path, logCount: 1)
            options.journal.space.ballastByteCount = 1 << 20
            options.unixMicroseconds = { UInt64(clock.withLock { $0 } * 1_000_000) }
            options.backups.interval = .seconds(3600)
            // The names of backups are of this clock, and look young.
            options.backups.timeOfDay = { Date(timeIntervalSince1970: 1_800_000_000) }
            var listeners = DurableState.Events()
            listeners.backup = { event in
                guard case .done(let backup, took: _, removed: _) = event else { return }
                made.withLock { $0.append(backup.name) }
                isMade.signal()
            }
            let state = try Self.open(options, listeners)
            try state.start()
            defer { state.stop() }
            return isMade.wait(timeout: .now() + 60) == .success
        }
        #expect(try serve())
        clock.withLock { $0 += 86_400 }
        #expect(try serve())
        #expect(made.withLock { $0.count } == 2)
    }

    @Test("what failed or was killed is removed, and nothing else")
    func removesLeftovers() throws {
        let complete = try BackupFixture.make(database)
        for name in ["20270115T080000123Z", "20270115T080000124Z", "mine"] {
            try directory.files.createDirectory("backups/\(name)")
            guard name != "20270115T080000124Z" else { continue }
            try directory.write("backups/\(name)/state.db.new", [1, 2, 3])
        }
        #expect(
            try BackupFolders.removeLeftovers(directory.files)
                == ["20270115T080000123Z", "20270115T080000124Z"]
        )
        #expect(try directory.files.names(in: "backups").sorted() == [complete, "mine"].sorted())
        #expect(try BackupFolders.removeLeftovers(directory.files) == [])
    }

    @Test(
        "only names that the service gives are times",
        arguments: [
            "20270115T080000Z", "20270115T080000123", "20271315T080000123Z",
            "x20270115T080000123Z", "20270115T080000123Z.old", "",
        ]
    )
    func knowsItsNames(_ name: String) {
        #expect(BackupFolders.time(of: name) == nil)
        #expect(BackupFolders.time(of: "20270115T080000123Z") != nil)
    }

    @Test("a start removes what a killed backup has left, and finds the newest complete one")
    func looksAround() throws {
        let directory = try DataDirectory()
        let name = try BackupFixture.make(directory.create())
        try directory.files.createDirectory("backups/20270115T080000123Z")
        try directory.write("backups/20270115T080000123Z/state.db.new", [1, 2, 3])
        directory.unlock()
        var options = StateOptions(path: directory.path, logCount: 1)
        options.journal.space.ballastByteCount = 1 << 20
        let events = Locked<[BackupEvent]>([])
        var listeners = DurableState.Events()
        listeners.backup = { event in events.withLock { $0.append(event) } }
        let state = try Self.open(options, listeners)
        try state.start()
        state.stop()
        #expect(events.withLock { $0 } == [.removedLeftovers(["20270115T080000123Z"])])
        #expect(state.checkpointThread.backups.status.complete?.name == name)
        // The status has the age by a clock that cannot be set, so its date is near that of the name.
        let date = try #require(state.checkpointThread.backups.status.complete?.date)
        let named = try #require(BackupFolders.time(of: name))
        #expect(abs(date.timeIntervalSince(named)) < 60)
    }
}
