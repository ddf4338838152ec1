internal import FeedJournal
internal import Foundation

/// The moments of which a data directory has the state.
struct MomentReach {
    /// A complete backup, and what it says of itself.
    struct Candidate {
        let name: String
        let meta: StateMeta
    }

    /// The backups that can be opened, the oldest state first.
    let backups: [Candidate]
    /// The names of those that cannot be, and why.
    let unreadable: [String: StateError]
    private let files: any JournalFiles

    /// Lists what there is; O(backups).
    init(_ path: String, _ files: any JournalFiles) {
        let names = (try? BackupFolders.complete(files)) ?? []
        var found: [Candidate] = []
        var unreadable: [String: StateError] = [:]
        for name in names {
            let folder = "\(path)/\(BackupFolders.directory)/\(name)"
            do throws(StateError) {
                let database = try BackupVerification.open(path: folder)
                found.append(Candidate(name: name, meta: database.meta))
            } catch {
                unreadable[name] = error
            }
        }
        backups = found.sorted {
            ($0.meta.highestRevision, $0.name) < ($1.meta.highestRevision, $1.name)
        }
        self.unreadable = unreadable
        self.files = files
    }

    /// What can be had, in a sentence.
    ///
    /// - Parameter scan: The journal after the newest backup before the moment, where it was read.
    /// - Returns: The sentence.
    func text(_ scan: RecoveryScan?) -> String {
        guard let oldest = backups.first else { return "There is no backup in backups/." }
        let own = "Each backup can be had as it is, the oldest one by --at \(oldest.name)."
        // The numbers alone would tell it of backups of another directory too.
        let continued = backups.first { backup in
            (try? RecoveryScan.continues(files, backup.meta.checkpointed)) ?? false
        }
        guard let continued, let begin = BackupFolders.time(of: continued.name) else { return own }
        guard let scan, scan.lastMicroseconds > 0 else {
            return
                "The journal goes on from the backup of \(begin.milliseconds): from then on each "
                + "moment can be had that has no gap before it. \(own)"
        }
        let clock = try? ClockSteps(files)
        let last = clock?.clock(of: scan.last.number, at: scan.lastMicroseconds)
        let end = Date(unixMicroseconds: last ?? scan.lastMicroseconds)
        guard end > begin else { return own }
        return "Moments from \(begin.milliseconds) to \(end.milliseconds), record "
            + "\(scan.last.number), can be had. \(own)"
    }
}
