package import FeedProto

/// The progress of the running backup, as a text.
package struct BackupProgress {
    private let stats: BackupStats

    /// The progress that the service reports of its backups.
    package init(_ stats: BackupStats) {
        self.stats = stats
    }

    /// `42 % of 1200 MB`, or the step before the copy begins.
    package var text: String {
        guard stats.byteCount > 0 else { return "waiting for changes to be checkpointed" }
        // Numbers of the wire: their products and sums may not fit.
        let share = Double(stats.copiedByteCount) / Double(stats.byteCount)
        let percent = Int(min(1, share) * 100)
        let megabytes = (stats.byteCount - 1) / 1_000_000 + 1
        return "\(percent) % of \(megabytes) MB"
    }
}

/// Why `backup` and `backups` report none.
package enum BackupFailure: Error, CustomStringConvertible {
    /// The command has waited for its whole timeout. The service's backup counters are nil where
    /// the service reports none.
    case stillRunning(Duration, BackupStats?)
    /// The service tells strangers nothing about its backups.
    case untold

    package var description: String {
        switch self {
        case .stillRunning(let timeout, let stats?) where stats.isRunning:
            "No answer came within \(timeout). The service continues the backup "
                + "(\(BackupProgress(stats).text)): feedctl stats shows it, and --timeout waits longer."
        case .stillRunning(let timeout, let stats?) where !stats.lastError.isEmpty:
            "No answer came within \(timeout). \(stats.lastError)"
        case .stillRunning(let timeout, let stats?) where !stats.lastName.isEmpty:
            "No answer came within \(timeout). No backup is under way; the newest complete one is "
                + "\(stats.lastName)."
        case .stillRunning(let timeout, _):
            "No answer came within \(timeout). The service may continue the backup: feedctl stats "
                + "shows it."
        case .untold:
            "The service tells only callers with a key about its backups (--service-key-file)."
        }
    }
}
