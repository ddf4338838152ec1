package import Foundation

/// When the next scheduled backup is due, as a value: the caller makes the backups, tells how they
/// end, and says what time it is.
///
/// The next one is due an interval after the newest one began, also where an earlier run of the
/// service made that. After a failure it is tried again after a minute, and after twice as long each
/// time, up to an hour or the interval.
package struct BackupSchedule: Equatable, Sendable {
    /// How long a backup that failed waits for the next try, at least and at most.
    static let shortestDelay: TimeInterval = 60
    static let longestDelay: TimeInterval = 3600

    /// The seconds between the beginnings of two backups.
    package let interval: TimeInterval
    /// When the next one is due; nil until ``begin(after:at:)``.
    package private(set) var due: Date?
    private var failureCount = 0

    /// A schedule that has not begun.
    package init(every interval: Duration) {
        self.interval = interval / .seconds(1)
    }

    /// The newest scheduled backup is known; nil where there is none, and one is due at once.
    package mutating func begin(after newest: Date?, at now: Date) {
        due = newest.map { $0 + interval } ?? now
    }

    /// Whether a backup is due.
    ///
    /// A clock that was set back moves the due time with it: nobody waits for more than an interval.
    package mutating func isDue(at now: Date) -> Bool {
        guard let due else { return false }
        self.due = min(due, now + interval)
        return due <= now
    }

    /// A scheduled backup that began at a time is complete.
    package mutating func succeeded(began: Date) {
        failureCount = 0
        due = began + interval
    }

    /// A scheduled backup failed or was cancelled.
    package mutating func failed(at now: Date) {
        let delay = Self.shortestDelay * Double(1 << min(failureCount, 10))
        failureCount += 1
        due = now + min(delay, Self.longestDelay, interval)
    }
}
