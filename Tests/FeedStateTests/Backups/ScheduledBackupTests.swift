import FeedJournal
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// Backups that a checkpoint thread makes by a schedule, with the time of day from the test.
@Suite(.timeLimit(.minutes(10))) struct ScheduledBackupTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// One life of the thread.
    private final class Life: Sendable {
        let thread: CheckpointThread
        private let ends = Locked<[Result<String, BackupError>]>([])
        private let ended = DispatchSemaphore(value: 0)

        init(
            _ database: StateDatabase,
            _ clock: Locked<Date>,
            uptime: Locked<TimeInterval>? = nil,
            hooks: BackupHooks = BackupHooks()
        ) throws {
            var options = BackupOptions()
            options.interval = .seconds(3600)
            options.timeOfDay = { clock.withLock { $0 } }
            options.uptime = {
                uptime?.withLock { $0 } ?? clock.withLock { $0 }.timeIntervalSince1970
            }
            let (ends, ended) = (ends, ended)
            let backups = Backups(options, reservedByteCount: 0, hooks: hooks) { event in
                switch event {
                case .done(let made, took: _, removed: _):
                    ends.withLock { $0.append(.success(made.name)) }
                case .failed(let error): ends.withLock { $0.append(.failure(error)) }
                case .began, .removedLeftovers: return
                }
                ended.signal()
            }
            thread = CheckpointThread(
                CheckpointWork(database, checkpointByteCount: 1 << 20),
                backups,
                failed: { Issue.record("\($0)") }
            )
            try thread.start()
        }

        /// How the next backup ends.
        func next() -> Result<String, BackupError> {
            ended.wait()
            return ends.withLock { $0.removeFirst() }
        }

        /// A backup that was asked for: when it ends, the thread has looked at the schedule.
        func call() throws -> String {
            thread.backUp(through: 0) { _ in }
            return try next().get()
        }
    }

    private static func isScheduled(_ name: String) -> Bool {
        BackupFolders.kind(of: name) == .scheduled
    }

    @Test("one is made when it is due, also by the next run of the service")
    func keepsTheSchedule() throws {
        let directory = try DataDirectory()
        let clock = Locked(Self.start)
        let first = try Life(directory.create(), clock)
        // There is none yet.
        let names = [try first.next().get()]
        #expect(BackupFolders.time(of: names[0]) == Self.start)
        clock.withLock { $0 = Self.start + 3599 }
        #expect(try !Self.isScheduled(first.call()))
        clock.withLock { $0 = Self.start + 3600 }
        #expect(try Self.isScheduled(first.next().get()))
        #expect(first.thread.backups.status.due == Self.start + 7200)
        first.thread.stop()
        directory.unlock()

        clock.withLock { $0 = Self.start + 5400 }
        let files = try POSIXFiles(path: directory.path)
        let database = try StateDatabase(directory: directory.path, files: files)
        let second = try Life(database, clock)
        #expect(try !Self.isScheduled(second.call()))
        #expect(second.thread.backups.status.due == Self.start + 7200)
        clock.withLock { $0 = Self.start + 7200 }
        #expect(try Self.isScheduled(second.next().get()))
        second.thread.stop()
        let made = try BackupFolders.complete(POSIXFiles(reading: directory.path))
        #expect(made.filter(Self.isScheduled).count == 3)
    }

    @Test("a clock that is set while the service runs moves no schedule and no age")
    func goesByNoClock() throws {
        let directory = try DataDirectory()
        let clock = Locked(Self.start)
        let uptime = Locked<TimeInterval>(0)
        let life = try Life(directory.create(), clock, uptime: uptime)
        #expect(try Self.isScheduled(life.next().get()))
        let ahead = Self.start + 31_536_000
        clock.withLock { $0 = ahead }
        uptime.withLock { $0 = 3599 }
        #expect(try !Self.isScheduled(life.call()))
        #expect(life.thread.backups.status.due == ahead + 1)
        clock.withLock { $0 = Self.start - 31_536_000 }
        uptime.withLock { $0 = 3600 }
        #expect(try Self.isScheduled(life.next().get()))
        clock.withLock { $0 = ahead }
        uptime.withLock { $0 = 3700 }
        #expect(life.thread.backups.status.complete?.date == ahead - 100)
        #expect(life.thread.backups.status.due == ahead + 3500)
        life.thread.stop()
    }

    @Test("a copy with a flipped byte is no backup, and another one is made a minute later")
    func removesADamagedCopy() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        let clock = Locked(Self.start)
        let flips = Locked(1)
        var hooks = BackupHooks()
        hooks.beforeVerification = { [path = directory.path] name in
            guard flips.withLock({ $0 > 0 }) else { return }
            flips.withLock { $0 -= 1 }
            let file = URL(filePath: "\(path)/backups/\(name)/state.db.new")
            do {
                var bytes = try Data(contentsOf: file)
                bytes[bytes.count / 2] ^= 1
                for page in stride(from: 4096, to: bytes.count, by: 4096) { bytes[page + 8] ^= 64 }
                try bytes.write(to: file)
            } catch {
                Issue.record("\(error)")
            }
        }
        let life = try Life(database, clock, hooks: hooks)
        let failure = life.next()
        guard case .failure(.damagedCopy(let name, let cause)) = failure else {
            Issue.record("\(failure)")
            return
        }
        #expect(Self.isScheduled(name) && cause.isDamage)
        #expect(try BackupFolders.complete(directory.files) == [])
        let status = life.thread.backups.status
        #expect(status.failureCount == 1 && status.complete == nil)
        #expect(status.due == Self.start + 60)
        clock.withLock { $0 = Self.start + 59 }
        #expect(try !Self.isScheduled(life.call()))
        clock.withLock { $0 = Self.start + 60 }
        let made = try life.next().get()
        #expect(Self.isScheduled(made))
        #expect(life.thread.backups.status.failureCount == 1)
        #expect(life.thread.backups.status.due == Self.start + 3660)
        life.thread.stop()
        _ = try BackupVerification.run(path: BackupFixture.path(made, in: directory))
    }

    @Test("a flipped bit anywhere in a copy is found, or changes nothing of the state")
    func findsFlips() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        let expected = try StateFixture.storeHash(database)
        let seed: UInt64 = 20_261_126
        var generator = SeededGenerator(seed: seed)
        var foundCount = 0
        for _ in 0..<40 {
            let job = try BackupJob(of: database, BackupOptions(), reservedByteCount: 0)
            try job.open()
            while try !job.step() {}
            try database.thaw()
            let path = "backups/\(job.name)/state.db.new"
            var bytes = try directory.read(path)
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try directory.write(path, bytes)
            do throws(BackupError) {
                try job.verify()
            } catch {
                foundCount += 1
                job.abandon()
                continue
            }
            let made = try job.finish().backup.name
            let path2 = BackupFixture.path(made, in: directory)
            #expect(try BackupVerification.run(path: path2).stateHash == expected, "seed \(seed)")
        }
        #expect(foundCount > 0, "seed \(seed)")
        #expect(try BackupFolders.complete(directory.files).count <= 7)
    }

    @Test("a check that is not wanted any more ends")
    func endsItsCheck() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        let job = try BackupJob(of: database, BackupOptions(), reservedByteCount: 0)
        try job.open()
        while try !job.step() {}
        try database.thaw()
        #expect(throws: BackupError.self) { try job.verify { false } }
        try job.verify { true }
        job.abandon()
    }
}
