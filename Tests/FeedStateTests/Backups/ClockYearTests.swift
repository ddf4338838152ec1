import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Foundation
import Testing

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
    /// The longest time between two backups.
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
