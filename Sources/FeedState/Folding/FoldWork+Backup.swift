internal import FeedJournal
internal import Foundation

/// A backup that was made.
package struct BackupSummary: Sendable, Equatable {
    /// Its directory, below the data directory.
    package var name: String
    /// All up to this revision is in it.
    package var revision: UInt64
}

extension FoldWork {
    /// Where backups are, below the data directory.
    static let backupDirectory = "backups"

    /// Copies the database as it is, with nothing gathered that is not in it.
    ///
    /// So a backup is one file, and holds all that was durable when it was asked for.
    func backUp(at date: Date = .now) -> Result<BackupSummary, StateError> {
        let name = "\(Self.backupDirectory)/\(Self.name(of: date))"
        do throws(StateError) {
            let files = database.files
            try fileErrors { () throws(FileError) in
                try files.createDirectory(Self.backupDirectory)
                try files.createDirectory(name)
                try files.syncDirectory(".")
                try files.syncDirectory(Self.backupDirectory)
            }
            let copy = try database.copy(to: name)
            while try !copy.step() {}
            return .success(
                BackupSummary(name: name, revision: database.meta.highestRevision)
            )
        } catch {
            // What was copied takes room, perhaps the very room that there was too little of.
            try? database.files.remove("\(name)/\(StateDatabase.newFileName)")
            return .failure(error)
        }
    }

    /// The time to the millisecond, in UTC, as names sort by it.
    private static func name(of date: Date) -> String {
        let style = Date.VerbatimFormatStyle(
            format: """
                \(year: .padded(4))\(month: .twoDigits)\(day: .twoDigits)T\
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\
                \(minute: .twoDigits)\(second: .twoDigits)\(secondFraction: .fractional(3))Z
                """,
            timeZone: TimeZone(secondsFromGMT: 0) ?? .current,
            calendar: Calendar(identifier: .gregorian)
        )
        return date.formatted(style)
    }
}
