package import Foundation

package struct BackupOptions: Sendable {
    /// How many complete backups that were made by calls are kept: the oldest go once a new one is complete.
    package var keptCount = 7
    /// The time between two scheduled backups; nil makes none by itself.
    package var interval: Duration?
    /// Which scheduled backups are kept: the newest 24.
    package var retention = BackupRetention(newestCount: 24)

    /// The time of day, by which backups are named; tests set another one.
    package var timeOfDay: @Sendable () -> Date = { .timeOfDay }

    /// Seconds of a clock that cannot be set, by which backups are scheduled; tests set another one.
    package var uptime: @Sendable () -> TimeInterval = {
        start.duration(to: .now) / .seconds(1)
    }

    private static let start = ContinuousClock.now

    /// Whether the names of backups tell how old they are; else a scheduled one is due at once.
    package var trustsNames = true
    /// How fast `state.db` is copied at most, in bytes a second: 64 MiB.
    package var byteRate = 64 << 20

    /// How many bytes are copied and written to the disk at a time: 4 MiB.
    ///
    /// A commit that comes meanwhile waits for no more than these.
    package var stepByteCount = 4 << 20

    /// How far SQLite's log may grow while `state.db` is held still for a copy, in bytes: 256 MiB.
    ///
    /// Beyond it the backup is cancelled: a start after a kill moves the whole log into the file
    /// before it serves, which takes a second or two for so much.
    package var maximumLogByteCount = 256 << 20

    /// The share of the free space that SQLite's log may take, if that is more, while replicas copy the file.
    ///
    /// Such a copy cannot be left to a quieter hour: a node waits for it, and a large one takes minutes.
    package var copyLogShare = 0.5

    package init() {}

    func retention(of kind: BackupKind) -> BackupRetention {
        switch kind {
        case .called: BackupRetention(newestCount: keptCount)
        case .scheduled: retention
        }
    }
}

/// Which backups of one kind stay: the newest ones, the newest of each day, and the newest of each
/// week (grandfather, father, son).
///
/// A backup stays while one of the three keeps it. Days and weeks are those of UTC, a week begins on
/// Monday, and only those that have a backup count: an outage costs no old backup.
package struct BackupRetention: Equatable, Sendable {
    package var newestCount: Int
    package var dayCount: Int
    package var weekCount: Int

    package init(newestCount: Int, dayCount: Int = 0, weekCount: Int = 0) {
        self.newestCount = newestCount
        self.dayCount = dayCount
        self.weekCount = weekCount
    }

    /// Which of some backups stay, as their indices, the newest one first; O(n).
    package func kept(of times: [Date]) -> Set<Int> {
        var kept = Set(times.indices.prefix(newestCount))
        var days: Set<Int> = []
        var weeks: Set<Int> = []
        for (index, time) in times.enumerated() {
            let day = Int((time.timeIntervalSince1970 / Self.daySeconds).rounded(.down))
            // 1970 began on a Thursday.
            let week = (day + 3) / 7
            if days.count < dayCount, days.insert(day).inserted { kept.insert(index) }
            if weeks.count < weekCount, weeks.insert(week).inserted { kept.insert(index) }
        }
        return kept
    }

    private static let daySeconds = 86_400.0
}

/// When the next scheduled backup is due, as a value: the caller makes the backups, tells how they
/// end, and says what time it is.
///
/// The next one is due an interval after the newest one began, also where an earlier run of the
/// service made that. After a failure it is tried again after a minute, and after twice as long each
/// time, up to an hour or the interval. Times are seconds of a clock that cannot be set; the time of day
/// only tells how old the backup is that a start finds.
package struct BackupSchedule: Equatable, Sendable {
    /// How long a backup that failed waits for the next try, at least and at most.
    private static let shortestDelay: TimeInterval = 60
    private static let longestDelay: TimeInterval = 3600
    /// How far a backup may lie ahead of the clock that agrees with it: five minutes.
    private static let longestLead: TimeInterval = 300

    package let interval: TimeInterval
    /// When the next one is due; nil until ``begin(after:timeOfDay:at:)``.
    package private(set) var due: TimeInterval?
    private var failureCount = 0

    package init(every interval: Duration) {
        self.interval = interval / .seconds(1)
    }

    /// The newest scheduled backup is known; nil where there is none, and one is due at once.
    ///
    /// One is due at once, too, where the newest one lies ahead of the time of day: one of the two is wrong,
    /// and nothing tells how old it is.
    package mutating func begin(after newest: Date?, timeOfDay: Date, at now: TimeInterval) {
        guard let age = newest.map(timeOfDay.timeIntervalSince), age >= -Self.longestLead else {
            due = now
            return
        }
        due = now + interval - min(max(age, 0), interval)
    }

    package func isDue(at now: TimeInterval) -> Bool { due.map { $0 <= now } ?? false }

    package mutating func succeeded(began: TimeInterval) {
        failureCount = 0
        due = began + interval
    }

    package mutating func failed(at now: TimeInterval) {
        let delay = Self.shortestDelay * Double(1 << min(failureCount, 10))
        failureCount += 1
        due = now + min(delay, Self.longestDelay, interval)
    }
}
