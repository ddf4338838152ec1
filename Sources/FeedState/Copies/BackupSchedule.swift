package import Foundation

/// When the next scheduled backup is due, as a value: the caller makes the backups, tells how they
/// end, and says what time it is.
///
/// The next one is due an interval after the newest one began, also where an earlier run of the
/// service made that. After a failure it is tried again after a minute, and after twice as long each
/// time, up to an hour or the interval. Times are seconds of a clock that cannot be set; the time of day
/// only tells how old the backup is that a start finds.
package struct BackupSchedule: Equatable, Sendable {
    /// How long a backup that failed waits for the next try, at least and at most.
    static let shortestDelay: TimeInterval = 60
    static let longestDelay: TimeInterval = 3600
    /// How far a backup may lie ahead of the clock that agrees with it: five minutes.
    static let longestLead: TimeInterval = 300

    /// The seconds between the beginnings of two backups.
    package let interval: TimeInterval
    /// When the next one is due; nil until ``begin(after:timeOfDay:at:)``.
    package private(set) var due: TimeInterval?
    private var failureCount = 0

    /// A schedule that has not begun.
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

    /// Whether a backup is due.
    package func isDue(at now: TimeInterval) -> Bool { due.map { $0 <= now } ?? false }

    /// A scheduled backup that began at a time is complete.
    package mutating func succeeded(began: TimeInterval) {
        failureCount = 0
        due = began + interval
    }

    /// A scheduled backup failed or was cancelled.
    package mutating func failed(at now: TimeInterval) {
        let delay = Self.shortestDelay * Double(1 << min(failureCount, 10))
        failureCount += 1
        due = now + min(delay, Self.longestDelay, interval)
    }
}
