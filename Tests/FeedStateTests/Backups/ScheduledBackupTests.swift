import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// Backups that a checkpoint thread makes by a schedule, with the time of day from the test.
@Suite(.timeLimit(.minutes(10))) struct ScheduledBackupTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

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
        let (directory, database) = try DataDirectory.created()
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
        guard case .failure(.damagedCopy(let name, let cause)) = failure
        else { throw Unexpected(failure) }
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
        let (directory, database) = try DataDirectory.created()
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

@Suite struct BackupScheduleTests {
    /// The time of day and the clock that cannot be set, at a start.
    private static let day = Date(timeIntervalSince1970: 1_800_000_000)
    private static let start: TimeInterval = 5000

    private static func schedule(after newest: Date?) -> BackupSchedule {
        var schedule = BackupSchedule(every: .seconds(3600))
        schedule.begin(after: newest, timeOfDay: day, at: start)
        return schedule
    }

    @Test func nothingIsDueUntilTheNewestBackupIsKnown() {
        let schedule = BackupSchedule(every: .seconds(3600))
        #expect(!schedule.isDue(at: Self.start) && schedule.due == nil)
    }

    @Test("the newest backup says when the next one is due, and not the start")
    func goesByTheNewestBackup() {
        #expect(Self.schedule(after: nil).due == Self.start)
        #expect(Self.schedule(after: Self.day - 600).due == Self.start + 3000)
        #expect(Self.schedule(after: Self.day - 7200).isDue(at: Self.start))
    }

    @Test func eachBackupIsDueAnIntervalAfterTheOneBeforeItBegan() {
        var schedule = Self.schedule(after: nil)
        schedule.succeeded(began: Self.start + 5)
        #expect(!schedule.isDue(at: Self.start + 3604) && schedule.isDue(at: Self.start + 3605))
    }

    @Test func aFailureIsTriedAgainLaterEachTime() {
        var schedule = Self.schedule(after: nil)
        var now = Self.start
        var delays: [TimeInterval] = []
        for _ in 0..<9 {
            schedule.failed(at: now)
            let due = schedule.due ?? now
            delays.append(due - now)
            now = due
        }
        #expect(delays == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        schedule.succeeded(began: now)
        schedule.failed(at: now)
        #expect(schedule.due == now + 60)
    }

    @Test func aFailureWaitsNoLongerThanTheInterval() {
        var schedule = BackupSchedule(every: .seconds(90))
        schedule.begin(after: nil, timeOfDay: Self.day, at: Self.start)
        for _ in 0..<3 { schedule.failed(at: Self.start) }
        #expect(schedule.due == Self.start + 90)
    }

    @Test("a newest backup of a clock that was ahead puts nothing off")
    func passesOverABackupToCome() {
        for ahead: TimeInterval in [301, 86_400, 31_622_400] {
            #expect(Self.schedule(after: Self.day + ahead).due == Self.start)
        }
        // A clock that was corrected by seconds.
        #expect(Self.schedule(after: Self.day + 20).due == Self.start + 3600)
    }
}

@Suite struct BackupRetentionTests {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The rule by calendar: the newest backup of each day and week, by the dates' own components.
    private static func model(_ rule: BackupRetention, _ times: [Date]) -> Set<Date> {
        let sorted = times.sorted(by: >)
        func newest(of unit: (Date) -> DateComponents, _ count: Int) -> [Date] {
            let groups = Dictionary(grouping: sorted, by: unit).values.compactMap { $0.max() }
            return Array(groups.sorted(by: >).prefix(count))
        }
        let days = newest(
            of: { calendar.dateComponents([.year, .month, .day], from: $0) },
            rule.dayCount
        )
        let weeks = newest(
            of: { calendar.dateComponents([.yearForWeekOfYear, .weekOfYear], from: $0) },
            rule.weekCount
        )
        return Set(sorted.prefix(rule.newestCount)).union(days).union(weeks)
    }

    @Test("a backup stays while it is among the newest, or the last of a day or a week")
    func agreesWithTheCalendar() {
        let seed: UInt64 = 20_261_126
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let rule = BackupRetention(
                newestCount: .random(in: 1...30, using: &generator),
                dayCount: .random(in: 0...10, using: &generator),
                weekCount: .random(in: 0...6, using: &generator)
            )
            let span = Double.random(in: 3600...8_000_000, using: &generator)
            let start = Double.random(in: 0...4_000_000_000, using: &generator)
            let times = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                Date(timeIntervalSince1970: start + .random(in: 0...span, using: &generator))
            }
            .sorted(by: >)
            let kept = Set(rule.kept(of: times).map { times[$0] })
            #expect(kept == Self.model(rule, times), "seed \(seed), \(rule)")
        }
    }

    @Test("hour after hour, the last backups of the finished days and weeks are those that stay")
    func keepsDaysAndWeeksHourAfterHour() {
        let rule = BackupRetention(newestCount: 24, dayCount: 7, weekCount: 4)
        // A Monday.
        let start = Date(timeIntervalSince1970: 1_768_780_800)
        var kept: [Date] = []
        for hour in 0..<24 * 7 * 8 {
            kept.insert(start + Double(hour) * 3600, at: 0)
            let indices = rule.kept(of: kept)
            kept = indices.sorted().map { kept[$0] }
            #expect(kept.count <= 24 + 7 + 4)
        }
        let end = kept[0]
        let hours = kept.map { Int(end.timeIntervalSince($0)) / 3600 }
        let newest = Array(0..<24)
        let days = (1...6).map { $0 * 24 }
        let weeks = [7, 14, 21].map { $0 * 24 }
        #expect(hours == newest + days + weeks)
    }

    @Test("an outage costs no old backup")
    func countsOnlyDaysThatHaveOne() {
        let rule = BackupRetention(newestCount: 1, dayCount: 3)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let times = [0, 100, 200, 300].map { now - Double($0) * 86_400 }
        #expect(rule.kept(of: times) == [0, 1, 2])
    }

    @Test func oneKindCostsTheOtherNothing() throws {
        let (directory, database) = try DataDirectory.created()
        let now = Locked(Date(timeIntervalSince1970: 1_800_000_000))
        var options = BackupOptions()
        options.keptCount = 2
        options.retention = BackupRetention(newestCount: 1, dayCount: 2)
        options.timeOfDay = { now.withLock { $0 } }
        func make(_ kind: BackupKind) throws -> String {
            let job = try BackupJob(of: database, options, kind: kind, reservedByteCount: 0)
            try job.open()
            while try !job.step() {}
            try job.verify()
            let name = try job.finish().backup.name
            try database.thaw()
            return name
        }
        let called = [try make(.called), try make(.called)]
        var scheduled: [String] = []
        for _ in 0..<5 {
            now.withLock { $0 += 43_200 }
            scheduled.append(try make(.scheduled))
        }
        // The last ones of the last two days, of which one is the newest.
        #expect(
            try BackupFolders.complete(directory.files) == called + [scheduled[2], scheduled[4]]
        )
        #expect(scheduled.allSatisfy { BackupFolders.time(of: $0) != nil })
        let last = try make(.called)
        #expect(
            try BackupFolders.complete(directory.files).sorted()
                == [called[1], scheduled[2], scheduled[4], last].sorted()
        )
    }
}

/// A year of days in which the clock is a day, a month or a year ahead or behind at half of the starts: a
/// backup is made when it is due, and a moment is restored exactly, or refused.
///
/// `FEED_SEED` replays one year.
@Suite(.timeLimit(.minutes(5))) struct ClockYearTests {
    @Test(
        "most moments are exact, those of a wrong clock are refused or exact, and none is wrong",
        arguments: TestEnvironment.seeds(1...1)
    )
    func isExactOrRefuses(seed: UInt64) throws {
        var year = try ClockYear(seed: seed)
        var outcomes = ClockYear.Outcomes()
        while year.day < 365 {
            try year.run(days: Int.random(in: 1...4, using: &year.generator))
            try year.restore(&outcomes)
        }
        #expect(year.longestPause <= 86_400 + 3 * 3600 + ClockYear.longestStop, "seed \(seed)")
        #expect(outcomes.wrong == [], "seed \(seed)")
        #expect(outcomes.exactCount > outcomes.refusedCount, "\(outcomes)")
        #expect(outcomes.refusedCount > 0 && outcomes.refusedOfRightCount * 20 < 160, "\(outcomes)")
    }
}

/// A directory whose records and backups have their true times noted beside it.
private struct ClockYear {
    /// What restores of moments came to.
    struct Outcomes {
        var exactCount = 0
        var refusedCount = 0
        /// Of these, those in a run with a right clock.
        var refusedOfRightCount = 0
        var wrong: [String] = []
    }

    private static let offsets: [Double] = [0, 0, 0, 0, 0, 0, 1, -1, 30, -30, 365, -365]
    private static let begin: TimeInterval = 2_000_000_000
    /// How long the service is stopped at most between two runs: an hour.
    static let longestStop: TimeInterval = 3600

    var generator: SeededGenerator
    private let directory: DataDirectory
    private let target: DataDirectory
    /// The true time, in seconds.
    private var now = Self.begin
    private var records: [(number: UInt64, time: TimeInterval, isRight: Bool)] = []
    private var lastBackup: TimeInterval?
    private var restoreCount = 0
    private(set) var longestPause: TimeInterval = 0
    private let raw = Locked<TimeInterval>(0)

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        directory = try DataDirectory()
        directory.unlock()
        target = try DataDirectory()
    }

    var day: Int { Int((now - Self.begin) / 86_400) }

    private var options: StateOptions {
        var options = StateOptions(path: directory.path, logCount: 1)
        options.durability = .os
        options.journal.segmentByteCount = 16 << 10
        options.journal.space.ballastByteCount = 4 << 10
        options.journal.keptMicroseconds = .max / 2
        options.journal.space.keptByteCount = 0
        options.backups.interval = .seconds(86_400)
        options.backups.timeOfDay = { [raw] in Date(timeIntervalSince1970: raw.withLock { $0 }) }
        options.unixMicroseconds = { [raw] in UInt64(raw.withLock { $0 } * 1_000_000) }
        return options
    }

    /// One run of the service, the first one with a right clock.
    mutating func run(days: Int) throws {
        let offset =
            records.isEmpty ? 0 : 86_400 * (Self.offsets.randomElement(using: &generator) ?? 0)
        let end = now + Double(days) * 86_400
        raw.withLock { $0 = now + offset }
        let store = FeedStore(stripeCount: 1) { 0 }
        let files = try POSIXFiles(path: directory.path)
        let place = StateDirectory(options, files)
        var state = try RecoveredState(place, into: store, channels: { _ in })
        let database = state.checkpointWork.database
        records.append((state.summary.last.number, now, offset == 0))
        var revision = store.revision
        var schedule = BackupSchedule(every: .seconds(86_400))
        let revisions = BackupRevisions(database)
        let names = revisions.sorted(
            try BackupFolders.complete(POSIXFiles(reading: directory.path))
        )
        let isTrusted = state.summary.clockStep == nil
        let newest = isTrusted ? names.last.flatMap(BackupFolders.time) : nil
        schedule.begin(after: newest, timeOfDay: options.backups.timeOfDay(), at: now)
        while now < end {
            if schedule.isDue(at: now) {
                try backUp(&state)
                schedule.succeeded(began: now)
            }
            now += Double.random(in: 1...3 * 3600, using: &generator)
            raw.withLock { $0 = now + offset }
            revision += 1
            let number = state.journal.last.number + 1
            let body = StateFixture.body([StateFixture.post(number, revision: revision)])
            let clock = options.unixMicroseconds()
            let position = try state.journal.append(body.span, count: 1, at: clock)
            try state.checkpointWork.add(body, at: position)
            records.append((number, now, offset == 0))
        }
        now += Double.random(in: 20...Self.longestStop, using: &generator)
        try Self.checkpoint(&state)
        files.unlock()
    }

    private static func checkpoint(_ state: inout RecoveredState) throws {
        state.checkpointWork.begin()
        while state.checkpointWork.isCheckpointing {
            try state.checkpointWork.writeStep(until: { false })
        }
        try state.journal.forget(through: state.journal.last.number)
    }

    private mutating func backUp(_ state: inout RecoveredState) throws {
        try Self.checkpoint(&state)
        let database = state.checkpointWork.database
        let job = try BackupJob(
            of: database,
            options.backups,
            kind: .scheduled,
            reservedByteCount: 0
        )
        try job.open()
        while try !job.step() {}
        _ = try job.finish()
        try database.thaw()
        longestPause = max(longestPause, now - (lastBackup ?? now))
        lastBackup = now
    }

    /// Restores a moment of the last twenty days, with a clock that is right.
    mutating func restore(_ outcomes: inout Outcomes) throws {
        restoreCount += 1
        let moment =
            (Double.random(in: max(Self.begin, now - 20 * 86_400)...now, using: &generator))
            .rounded()
        let expected = records.last { $0.time <= moment }
        let made: MomentRestore
        do throws(RestoreError) {
            made = try MomentRestore.run(
                of: RestoreSource(path: directory.path),
                to: .time(Date(timeIntervalSince1970: moment)),
                into: "\(target.path)/\(restoreCount)",
                now: Date(timeIntervalSince1970: now)
            )
        } catch {
            guard case .noMoment = error else { throw error }
            outcomes.refusedCount += 1
            outcomes.refusedOfRightCount += expected?.isRight == true ? 1 : 0
            return
        }
        if made.lastRecord == expected?.number ?? 0 {
            outcomes.exactCount += 1
        } else {
            outcomes.wrong.append(
                "\(moment): \(made.lastRecord), not \(expected as Any), \(made.backup)"
            )
        }
    }
}
