internal import FeedConcurrency
package import FeedJournal
package import Foundation

/// The folders of backups below a data directory: `backups/` and a folder in it for each.
///
/// A folder's name is the time at which its backup began, and whether the schedule made it. A backup
/// is complete when the folder has `state.db`. Folders that a person has made, renamed or put
/// something into are never touched.
package enum BackupFolders {
    /// Where the folders are, below the data directory; a directory, or a link to one.
    package static let directory = "backups"

    /// The complete backups that the service has made, oldest first; O(folders).
    package static func complete(_ files: any JournalFiles) throws(StorageError) -> [String] {
        var names: [String] = []
        for name in try folders(files) where content(of: name, files) == [StateDatabase.fileName] {
            names.append(name)
        }
        return names
    }

    /// Removes what incomplete backups have left; returns their names.
    ///
    /// Not to be called while one is made. A folder that cannot be removed stays, and is tried again
    /// the next time: it must not prevent a new backup.
    package static func removeLeftovers(_ files: any JournalFiles) throws(StorageError) -> [String]
    {
        var removed: [String] = []
        for name in try folders(files) {
            let content = content(of: name, files)
            guard content == [] || content == [StateDatabase.newFileName] else { continue }
            do {
                try remove(name, files)
                removed.append(name)
            } catch {}
        }
        return removed
    }

    /// Removes the complete backups of a kind that a rule does not keep, and never the one that was
    /// just made; returns the names of those that are gone, the oldest first.
    ///
    /// One that cannot be removed stays, and is tried again after the next backup.
    /// The names of the others are in the order that `sorted` makes, the oldest backup first.
    package static func prune(
        _ kind: BackupKind,
        keeping retention: BackupRetention,
        newest: String,
        _ files: any JournalFiles,
        sorted: ([String]) -> [String] = { $0 }
    ) throws(StorageError) -> [String] {
        let others = sorted(
            try complete(files).filter { $0 != newest && self.kind(of: $0) == kind }
        )
        let names = [newest] + others.reversed()
        let kept = retention.kept(of: names.compactMap(time(of:)))
        let removed = names.indices.filter { $0 > 0 && !kept.contains($0) }.map { names[$0] }
        return removed.reversed().filter { name in
            do {
                try remove(name, files)
                return true
            } catch {
                return false
            }
        }
    }

    /// Makes a folder for a backup that begins at a time, and both names durable; returns its name.
    static func create(
        _ kind: BackupKind,
        at date: Date,
        _ files: any JournalFiles
    ) throws(StorageError) -> String {
        try files.createDirectory(directory)
        try files.syncDirectory(".")
        let taken = try Set(files.names(in: directory))
        var date = date
        while taken.contains(name(of: date, kind)) { date += 0.001 }
        let name = name(of: date, kind)
        try files.createDirectory("\(directory)/\(name)")
        try files.syncDirectory(directory)
        return name
    }

    static func remove(_ name: String, _ files: any JournalFiles) throws(StorageError) {
        for file in [StateDatabase.newFileName, StateDatabase.fileName] {
            try files.remove("\(directory)/\(name)/\(file)")
        }
        try files.removeDirectory("\(directory)/\(name)")
        try files.syncDirectory(directory)
    }

    private static func folders(_ files: any JournalFiles) throws(StorageError) -> [String] {
        guard try files.names(in: ".").contains(directory) else { return [] }
        return try files.names(in: directory).filter { time(of: $0) != nil }.sorted()
    }

    /// The names in a folder; nil where it cannot be read, as a file of that name.
    private static func content(of name: String, _ files: any JournalFiles) -> [String]? {
        try? files.names(in: "\(directory)/\(name)")
    }

    /// The time to the millisecond, in UTC, as names sort by it: `20270115T080000123Z`; behind it
    /// `-scheduled` where the schedule made the backup.
    package static func name(of date: Date, _ kind: BackupKind) -> String {
        date.formatted(style) + kind.suffix
    }

    /// The time that a folder's name says; nil where the service has not given it.
    package static func time(of name: String) -> Date? {
        let kind = kind(of: name)
        let digits = name.dropLast(kind.suffix.count)
        guard let date = try? Date(String(digits), strategy: style.parseStrategy) else {
            return nil
        }
        // The parser takes more than the service gives.
        return self.name(of: date, kind) == name ? date : nil
    }

    package static func kind(of name: String) -> BackupKind {
        name.hasSuffix(BackupKind.scheduled.suffix) ? .scheduled : .called
    }

    private static let style = Date.VerbatimFormatStyle(
        format: """
            \(year: .padded(4))\(month: .twoDigits)\(day: .twoDigits)T\
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\
            \(minute: .twoDigits)\(second: .twoDigits)\(secondFraction: .fractional(3))Z
            """,
        timeZone: TimeZone(secondsFromGMT: 0) ?? .gmt,
        calendar: Calendar(identifier: .gregorian)
    )
}

extension Date {
    package static var timeOfDay: Date {
        Date(timeIntervalSince1970: Double(SystemClock.unixMicroseconds()) / 1_000_000)
    }
}

package enum BackupKind: String, Sendable, CaseIterable {
    case called = ""
    case scheduled = "-scheduled"

    var suffix: String { rawValue }
}
