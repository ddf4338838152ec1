package import Foundation

/// How backups are doing, for statistics.
package struct BackupStatus: Sendable, Equatable {
    /// Whether one is under way.
    package var isRunning = false
    /// Of the one under way, the bytes that are copied, and all of them; 0 before the copy begins.
    package var copiedByteCount = 0
    package var byteCount = 0
    /// The newest complete backup: of this run, or the one that the start has found.
    package var complete: Complete?
    /// Why the last backup of this run is none; nil where it is complete.
    package var failure: Failed?
    /// The backups of this run that failed, were cancelled or did not pass their check.
    package var failureCount: UInt64 = 0
    /// The seconds between two scheduled backups, and when the next one is due; nil without a
    /// schedule, and until the start has looked for the newest one.
    package var interval: TimeInterval?
    package var due: Date?

    /// A complete backup.
    package struct Complete: Sendable, Equatable {
        /// Its folder in `backups/`.
        package var name: String
        /// When it was complete, by the clock of now; of one that the start has found, when it began, and
        /// the time of the start where its name lies ahead of that.
        package var date: Date
        /// The bytes that it takes, and how long it took; 0 of one that the start has found.
        package var byteCount = 0
        package var duration = Duration.zero
    }

    /// A backup that failed or was cancelled.
    package struct Failed: Sendable, Equatable {
        /// Why.
        package var error: BackupError
        /// When that was known.
        package var date: Date
    }
}

/// What is worth a line in the log.
package enum BackupEvent: Sendable, Equatable {
    /// A copy of so many bytes has begun.
    case began(name: String, byteCount: Int)
    /// A backup is complete; the names are those of older ones that were removed.
    case done(BackupSummary, took: Duration, removed: [String])
    /// There is no backup.
    case failed(BackupError)
    /// What earlier backups have left was removed at the start.
    case removedLeftovers([String])
}
