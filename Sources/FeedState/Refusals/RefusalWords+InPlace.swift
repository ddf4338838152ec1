internal import FeedJournal

// What a refusal says where `state.db` cannot be used, and of restores in place.
extension RefusalWords {
    /// Where `state.db` cannot be used: a backup, with the journal if it continues the backup.
    ///
    /// - Parameters:
    ///   - first: What to do where the file itself can be had again.
    ///   - remedy: What else the directory has.
    /// - Returns: What it means, and the ways on.
    func withoutState(_ first: String, _ remedy: StateRemedy) -> Consequences {
        let puttingBack = StartRefusal.Step(
            text: "\(first) After cp it is a copy: "
                + "`feed-service new-instance \(RefusalCommands.quoted(path))` comes before the "
                + "start."
        )
        switch remedy {
        case .continued(let backup, let checkpointed, let last, let problem):
            let behind =
                last > checkpointed
                ? "the journal here has records \(checkpointed + 1) to \(last)"
                : "the journal here has no record"
            let has =
                "backup \(name(of: backup)) has all up to record \(checkpointed), and \(behind)"
            let step = inPlace(backup, problem)
            guard backup != journal else {
                return ofWholeJournal(last, problem, step, puttingBack: puttingBack)
            }
            guard let problem else {
                let all = last > checkpointed ? ", which are all after it." : " after it."
                return ("Nothing is lost: \(has)\(all)", [step, puttingBack])
            }
            let meaning =
                "B\(has.dropFirst()) after it. What state.db alone had after record \(last) is lost "
                + "unless the file comes back, as the journal is not whole: \(problem)"
            return (meaning, [puttingBack, step])
        case .behind(let backup, let checkpointed, let problem):
            let meaning =
                "Nothing can be served from this directory. Backup \(name(of: backup)) has all up "
                + "to record \(checkpointed). What was acknowledged in record \(checkpointed + 1) "
                + "and after it is lost, as the journal does not continue the backup: \(problem)"
            return (meaning, [puttingBack, restoring(backup)])
        case .ofAnotherInstance(let backup):
            let meaning =
                "Nothing can be served from this directory. Backup \(name(of: backup)) has all up to "
                + "its time. What was acknowledged after it is lost: the backup is of another "
                + "instance, so the journal here does not continue it."
            return (meaning, [puttingBack, restoring(backup)])
        case .noBackup:
            let meaning =
                "Nothing can be served from this directory. A backup has all up to its time; what "
                + "was acknowledged after it is lost, unless the journal here continues the backup."
            let elsewhere = StartRefusal.Step(
                text: "No backup in \(path)/\(BackupFolders.directory) can be read and is whole. "
                    + "Look where backups are copied to: one is a folder that has state.db. `feed-service restore "
                    + "--in-place`, its path, and \(RefusalCommands.quoted(path)) puts it in the "
                    + "place of state.db where nothing is lost; else it says what is, and changes "
                    + "nothing."
            )
            return (meaning, [puttingBack, elsewhere])
        }
    }

    /// Where no backup is as good as the journal, which has all from the beginning.
    private func ofWholeJournal(
        _ last: UInt64,
        _ problem: String?,
        _ step: StartRefusal.Step,
        puttingBack: StartRefusal.Step
    ) -> Consequences {
        let has = "the journal here has all from the beginning, records 1 to \(last)."
        guard let problem else { return ("Nothing is lost: \(has)", [step, puttingBack]) }
        let meaning =
            "T\(has.dropFirst()) What state.db alone had after record \(last) is lost unless the file "
            + "comes back, as the journal is not whole: \(problem)"
        return (meaning, [puttingBack, step])
    }

    /// What is typed in the place of a backup where the journal has all.
    private var journal: String { WholeJournal.path(in: path) }

    /// What to do where a backup has more records than are left; nil where none has.
    func moreThanIsLeft(_ left: UInt64, _ remedy: StateRemedy) -> StartRefusal.Step? {
        guard remedy.last > left else { return nil }
        switch remedy {
        case .noBackup, .ofAnotherInstance: return nil
        case .continued(let backup, let checkpointed, let last, let problem):
            var step = inPlace(backup, problem)
            step.text =
                "More is left than records up to \(left): backup \(name(of: backup)) has all up to "
                + "record \(checkpointed), and the journal here continues it up to record \(last). "
                + step.text
            return step
        case .behind(let backup, let checkpointed, _):
            var step = restoring(backup)
            step.text =
                "Backup \(name(of: backup)) has more than is left here, all up to record "
                + "\(checkpointed). " + step.text
            return step
        }
    }

    /// Puts a backup in the place of `state.db`, before a journal that may have a problem.
    private func inPlace(_ backup: String, _ problem: String?) -> StartRefusal.Step {
        let start =
            problem == nil
            ? "the start adds the journal's records"
            : "the start then says which records of the journal are lost, and what to type"
        let way =
            backup == journal
            ? "Make state.db anew" : "Put this backup in the place of state.db"
        return StartRefusal.Step(
            text: "\(way); \(start). The old files are kept in \(quarantine).",
            commands: restoringInPlace(backup)
        )
    }

    /// A restore in place was killed.
    func ofInterruptedInPlaceRestore(of backup: String) -> Consequences {
        let step = StartRefusal.Step(
            text: "Run the same command again; it begins anew.",
            commands: restoringInPlace(backup)
        )
        let meaning =
            "Nothing is lost: the backup and the journal are as they were. Nothing of this directory "
            + "is served before that."
        return (meaning, [step])
    }

    /// Why a backup was not put in the place of `state.db`, and what to type then.
    func consequences(ofInPlace error: RestoreError, _ backup: String) -> Consequences {
        let nothing = "Nothing was restored, and the backup is as it was."
        switch error {
        case .notContinued(_, let checkpointed, _):
            let again = StartRefusal.Step(
                text: "If you have the missing or damaged file as it was, put it back, and run it "
                    + "again.",
                commands: restoringInPlace(backup)
            )
            let meaning =
                "Nothing was changed. With this backup, what was acknowledged in record "
                + "\(checkpointed + 1) and after it is lost unless the file comes back."
            // Another backup beside the journal may have more.
            switch remedy(checkpointed) {
            case .continued(let better, _, _, let problem):
                return (meaning, [inPlace(better, problem), again])
            case .behind(let better, _, _): return (meaning, [again, restoring(better)])
            case .noBackup, .ofAnotherInstance: return (meaning, [again, restoring(backup)])
            }
        case .noRoom(let directory, let needed, let free):
            let step = StartRefusal.Step(
                text: "Free \(Self.missingMebibytes(needed, free)) MiB on the file system of the "
                    + "directory, and run it again.",
                commands: ["df -h \(RefusalCommands.quoted(directory))"] + restoringInPlace(backup)
            )
            return (nothing, [step])
        case .state(.directory(.locked(_, let holder))):
            let lock = RefusalCommands.quoted("\(path)/lock")
            let process = holder.map { "kill \($0)" } ?? "fuser \(lock)"
            let step = StartRefusal.Step(
                text: "Stop the service, and run it again.",
                commands: [process] + restoringInPlace(backup)
            )
            return (nothing, [step])
        default:
            let step = StartRefusal.Step(
                text: "Take another backup, or look at the path, the disk and the rights. "
                    + "`feed-service verify` and a backup's path say whether one is whole."
            )
            return (nothing, [step])
        }
    }

    /// Puts a backup in the place of `state.db`, and serves the directory.
    private func restoringInPlace(_ backup: String) -> [String] {
        [commands.restoreInPlace(backup), commands.serve()]
    }

    /// Restores a backup into a new directory, and serves that.
    private func restoring(_ backup: String) -> StartRefusal.Step {
        let restored = commands.restored
        return StartRefusal.Step(
            text: "Restore the backup into a new directory, and serve that.",
            commands: [
                commands.restore(RestoreSource(path: backup), into: restored),
                commands.serve(restored, "--must-exist"),
            ]
        )
    }

    private var quarantine: String {
        RefusalCommands.quoted("\(path)/\(Quarantine.directoryName)")
    }

    /// A backup's folder without the path.
    private func name(of backup: String) -> String {
        backup.split(separator: "/").last.map(String.init) ?? backup
    }
}
