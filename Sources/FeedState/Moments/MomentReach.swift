internal import FeedJournal
internal import Foundation

/// The moments of which a data directory has the state.
struct MomentReach {
    /// A complete backup, and what it says of itself.
    struct Candidate {
        let name: String
        let meta: StateMeta
    }

    /// The backups that can be opened, the oldest first.
    let backups: [Candidate]
    /// The first record that the journal has; nil where it has none.
    private let firstRecord: UInt64?

    /// Lists what there is; O(backups).
    init(_ path: String, _ files: any JournalFiles) {
        let names = (try? BackupFolders.complete(files)) ?? []
        backups = names.compactMap { name in
            let folder = "\(path)/\(BackupFolders.directory)/\(name)"
            guard let database = try? BackupVerification.open(path: folder) else { return nil }
            return Candidate(name: name, meta: database.meta)
        }
        firstRecord = (try? RecoveryScan.firstRecord(files)) ?? nil
    }

    /// What can be had, in a sentence.
    ///
    /// - Parameter scan: The journal after the newest backup before the moment, where it was read.
    /// - Returns: The sentence.
    func text(_ scan: RecoveryScan?) -> String {
        guard let oldest = backups.first else { return "There is no backup in backups/." }
        let own = "Each backup can be had as it is, the oldest one by --at \(oldest.name)."
        let continued = backups.first { backup in
            firstRecord.map { $0 <= backup.meta.checkpointed.number + 1 } ?? false
        }
        guard let continued, let begin = BackupFolders.time(of: continued.name) else { return own }
        guard let scan, scan.lastMicroseconds > 0 else {
            return
                "The journal goes on from the backup of \(begin.milliseconds): from then on each "
                + "moment can be had that has no gap before it. \(own)"
        }
        let end = Date(unixMicroseconds: scan.lastMicroseconds)
        guard end > begin else { return own }
        return "Moments from \(begin.milliseconds) to \(end.milliseconds), record "
            + "\(scan.last.number), can be had. \(own)"
    }
}
