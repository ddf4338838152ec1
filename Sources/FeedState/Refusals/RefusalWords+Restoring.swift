internal import FeedJournal

// What a refusal says of backups and restores.
extension RefusalWords {
    /// How to get a directory that a backup was restored into.
    var restoringStep: Step {
        let restored = commands.restored
        guard let newest = commands.backups.first else {
            return Step(
                text: "\(backupList) Look where backups are copied to: one is a folder that has "
                    + "state.db. Restore it by `feed-service restore`, its path, and "
                    + "\(RefusalCommands.quoted(restored)); then serve that.",
                commands: [commands.serveRestored(restored)]
            )
        }
        return Step(
            text: "Restore the newest backup into a new directory, and serve that. \(backupList)",
            commands: restoring(
                RestoreSource(path: "\(path)/\(BackupFolders.directory)/\(newest)"),
                into: restored
            )
        )
    }

    /// Restores a backup or a moment into a directory, and serves that.
    private func restoring(_ source: RestoreSource, into directory: String) -> [String] {
        [commands.restore(source, into: directory), commands.serveRestored(directory)]
    }

    /// A restore was killed, from this source where it has noted one.
    func ofInterruptedRestore(of source: RestoreSource?) -> Consequences {
        let whole =
            switch source?.isMoment {
            case true: "The data directory that is restored is as it was."
            case false: "The backup is whole."
            case nil: "What is restored is as it was."
            }
        let meaning = "\(whole) Nothing of this directory is served before that."
        guard let source else {
            let step = Step(
                text: "Run the same `feed-service restore` again, which begins anew. The directory "
                    + "does not say from what.",
                commands: [commands.serveRestored(path)]
            )
            return (meaning, [step])
        }
        let step = Step(
            text: "Run the same command again; it begins anew.",
            commands: restoring(source, into: path)
        )
        return (meaning, [step])
    }

    /// A backup's folder was taken for a data directory.
    func ofBackup() -> Consequences {
        let step = Step(
            text: "Restore it into a new directory, and serve that.",
            commands: restoring(RestoreSource(path: path), into: commands.restored)
        )
        return ("Nothing is lost, and nothing was changed. A backup is not served itself.", [step])
    }

    /// Why nothing was restored into the directory, and what to type then.
    func consequences(of error: RestoreError, _ source: RestoreSource) -> Consequences {
        let kind = source.isMoment ? "data directory" : "backup"
        let nothing = "Nothing was restored, and the \(kind) is as it was."
        let another = Step(
            text: "Restore another backup. `feed-service verify` and its path say whether one is "
                + "whole."
        )
        switch error {
        case .noBackup:
            let step = Step(
                text: "Correct the path: a backup is a folder that has state.db, below backups/ in "
                    + "a data directory or where it was copied to."
            )
            return (nothing, [step])
        case .incomplete: return (nothing, [another])
        case .within:
            let step = Step(
                text: "Restore into a directory that is not there yet, and serve that.",
                commands: restoring(source, into: RefusalCommands(path: source.path).restored)
            )
            return (nothing, [step])
        case .noRoom(_, let needed, let free):
            let step = Step(
                text: "Free \(Self.missingMebibytes(needed, free)) MiB on the file system of the "
                    + "directory, and run it again.",
                commands: ["df -h \(quotedParent)"] + restoring(source, into: path)
            )
            return (nothing, [step])
        case .state(.notEmpty), .state(.directory(.locked)):
            let step = Step(
                text: "Restore into a directory that is not there yet, and serve that.",
                commands: restoring(source, into: commands.restored)
            )
            return (nothing, [step])
        case .state(.notABackup), .notContinued, .notAll: return (nothing, [])
        case .noMoment(_, _, .wrongClock, _):
            let step = Step(
                text:
                    "Name a revision by --at-revision: one that a client has seen, or the one above. The "
                    + "command prints where it came to."
            )
            return (nothing, [step])
        case .noMoment:
            let step = Step(
                text:
                    "Name a moment that can be had, or a backup by --at and the name of its folder."
            )
            return (nothing, [step])
        case .state(let error) where error.isDamage: return (nothing, [another])
        case .state(.changedBackup), .state(.unfinishedCheckpoint), .state(.newerFormat):
            return (nothing, [another])
        case .state:
            let step = Step(
                text: "Look at the disk, the path and the rights, then run it again.",
                commands: ["ls -ld \(quotedParent)", "dmesg | tail"]
                    + restoring(source, into: path)
            )
            return (nothing, [step])
        }
    }

    /// The directory above, which is there where a directory was to be made.
    private var quotedParent: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : RefusalCommands.quoted(String(path[..<slash]))
    }

    /// The MiB that are to be freed so that so many bytes are free, rounded up; 1 at least.
    static func missingMebibytes(_ needed: Int, _ free: Int) -> Int {
        max(1, (needed - free + (1 << 20) - 1) >> 20)
    }
}
