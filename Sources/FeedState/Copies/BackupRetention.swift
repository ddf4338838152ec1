package import Foundation

/// Which backups of one kind stay: the newest ones, the newest of each day, and the newest of each
/// week (grandfather, father, son).
///
/// A backup stays while one of the three keeps it. Days and weeks are those of UTC, a week begins on
/// Monday, and only those that have a backup count: an outage costs no old backup.
package struct BackupRetention: Equatable, Sendable {
    /// How many of the newest ones stay.
    package var newestCount: Int
    /// For how many days the newest one of the day stays.
    package var dayCount: Int
    /// For how many weeks the newest one of the week stays.
    package var weekCount: Int

    /// The rule with these numbers.
    package init(newestCount: Int, dayCount: Int = 0, weekCount: Int = 0) {
        self.newestCount = newestCount
        self.dayCount = dayCount
        self.weekCount = weekCount
    }

    /// Which of some backups stay, as their indices; O(n).
    ///
    /// - Parameter times: When they began, the newest one first.
    /// - Returns: The indices of those that stay.
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
