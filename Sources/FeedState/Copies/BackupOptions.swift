package import Foundation

/// How backups are made, and how many are kept.
package struct BackupOptions: Sendable {
    /// How many complete backups that were made by calls are kept: the oldest go once a new one is
    /// complete.
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

    /// The defaults.
    package init() {}

    /// Which backups of a kind are kept.
    func retention(of kind: BackupKind) -> BackupRetention {
        switch kind {
        case .called: BackupRetention(newestCount: keptCount)
        case .scheduled: retention
        }
    }
}
