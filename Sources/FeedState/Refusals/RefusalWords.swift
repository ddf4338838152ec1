internal import FeedJournal
internal import FeedSQLite
internal import Foundation

struct RefusalWords {
    typealias Step = StartRefusal.Step
    typealias Consequences = (meaning: String, steps: [StartRefusal.Step])

    static let nothingIsLost = "Nothing is lost, and the state is as it was."

    /// The data directory, or the one that was to be one.
    let path: String
    let commands: RefusalCommands
    /// The records that backups and the journal have beyond one, looked up where it is needed.
    let remedy: (UInt64) -> StateRemedy
    private let command: RefusedCommand

    /// The words for a data directory, and what was typed.
    init(
        path: String,
        command: RefusedCommand = .serve(),
        remedy: @escaping (UInt64) -> StateRemedy
    ) {
        self.path = path
        self.command = command
        self.remedy = remedy
        commands = RefusalCommands(path: path)
    }

    func consequences(of error: StateStartError) -> Consequences {
        switch error {
        case .inPlaceInterrupted, .restoreInterrupted, .installInterrupted: break
        default:
            if command == .serveNode, error.exitStatus == 5 { return ofDamagedNode() }
        }
        switch error {
        case .loss(let loss): return ofLoss(loss)
        case .storage(let error): return ofStorage(error)
        case .inPlaceInterrupted(_, let backup): return ofInterruptedInPlaceRestore(of: backup)
        case .installInterrupted:
            let step = Step(text: "Start it with --replica, as before: that start finishes it.")
            return (
                "Both states are whole. Nothing of this directory is served before that.", [step]
            )
        case .missingDatabase:
            return withoutState(
                "If state.db was moved, or its disk is not mounted, put it back.",
                remedy(0)
            )
        case .ofCluster: return ofCluster()
        case .ofOneMachine: return ofOneMachine()
        case .unacceptedClusterLoss: return ofClusterLoss()
        case .noRecord: return ofNoRecord()
        case .foreignFile: return ofForeignFile()
        case .noState:
            return ofNoState()
        case .interruptedAcceptance(let left):
            let step = Step(
                text: "Finish it by the same command.",
                commands: [commands.serve(nil, "--accept-data-loss \(left)")]
            )
            return ("Records up to \(left) are whole. No other start changes the files.", [step])
        case .restoreInterrupted(_, let source, let flags):
            return ofInterruptedRestore(of: source.map { RestoreSource(path: $0, flags: flags) })
        case .backup: return ofBackup()
        case .copied: return ofCopy()
        case .full(let needed, let free): return ofFullDisk(needed, free)
        }
    }

    private func ofLoss(_ loss: StateLoss) -> Consequences {
        let left = loss.left
        let more = commands.backups.isEmpty ? nil : moreThanIsLeft(left, remedy(left))
        var steps = more.map { [$0] } ?? []
        steps.append(Step(text: "\(puttingBack(loss)), and start again."))
        steps.append(lookingAtLoss(left))
        let kept = RefusalCommands.quoted("\(path)/\(Quarantine.directoryName)")
        steps.append(
            Step(
                text: "Serve what is left. What is dropped is kept in \(kept); clients see a new "
                    + "instance.",
                commands: [commands.serve(nil, "--accept-data-loss \(left)")]
            )
        )
        let hold = more == nil && !commands.backups.isEmpty
        steps.append(Step(text: backupList + (hold ? " They hold no more than what is left." : "")))
        return (Self.meaning(of: loss), steps)
    }

    private func lookingAtLoss(_ left: UInt64) -> Step {
        Step(
            text: "See what would be dropped; nothing is changed.",
            commands: [commands.serve(nil, "--accept-data-loss \(left)", "--dry-run")]
        )
    }

    private static func meaning(of loss: StateLoss) -> String {
        let left = loss.left
        let whole = "Records up to \(left) are whole"
        let mixed = loss.partlyCheckpointed.map { " \(StateLoss.partlyCheckpointedNote($0))" }
        if case .missingWatermark = loss.problem {
            return "\(whole); if no other file was touched, they are all. Without the "
                + "watermark that is not proven.\(mixed ?? "")"
        }
        let lost =
            loss.known > left + 1
            ? "in records \(left + 1) to \(loss.known), and after them,"
            : loss.known == left + 1
                ? "in record \(left + 1), and after it," : "after record \(left)"
        let state = mixed.map { ".\($0)" } ?? ", and state.db is."
        return "\(whole)\(state) What was acknowledged \(lost) is lost unless the file comes back."
    }

    /// Where the journal cannot be used: only a backup is left.
    private func withoutRecords(_ first: String) -> Consequences {
        let meaning =
            "Nothing can be served from this directory. A backup has all up to its time; what was "
            + "acknowledged after it is lost."
        return (meaning, [Step(text: first), restoringStep])
    }

    var backupList: String {
        let folder = "\(path)/\(BackupFolders.directory)"
        let backups = commands.backups
        guard !backups.isEmpty else { return "There are no backups in \(folder)." }
        let shown = backups.prefix(5).joined(separator: ", ")
        let rest = backups.count > 5 ? ", and \(backups.count - 5) older ones" : ""
        return "Backups in \(folder), newest first: \(shown)\(rest)."
    }

    private func ofStorage(_ error: StorageError) -> Consequences {
        switch error {
        case .head(let error) where error.isOfNewerProgram: return ofNewerFormat()
        case .brokenRecord, .head:
            return withoutRecords(
                "Keep the directory: its files are whole, and show a fault of the program."
            )
        case _ where error.isDamage:
            return withoutState(
                "If you have state.db as it was, put it back, and start again.",
                remedy(0)
            )
        case .newerFormat: return ofNewerFormat()
        case .system(let operation, _, _) where error.isForbidden:
            return ofForbiddenFile(operation)
        case .sqlite(let failure) where failure.kind == .locked:
            return (
                Self.nothingIsLost,
                [Step(text: "Close the other program, then start again.", commands: [serve])]
            )
        case .thread:
            let step = Step(
                text: "Let the user run more threads, or free memory, then start again.",
                commands: ["ulimit -u", "free -m", serve]
            )
            return ("Nothing was served.", [step])
        case .otherInstance:
            let steps = [
                Step(text: "Move the files of the other directory away, and start again."),
                Step(
                    text: "If state.db is from a backup: put the own one back, and restore the "
                        + "backup into a new directory by `feed-service restore`, the backup's "
                        + "path, and \(RefusalCommands.quoted(commands.restored))."
                ),
                Step(
                    text: "If an older version of feed-service was killed while it accepted a loss "
                        + "here: repeat that command."
                ),
            ]
            return ("Files of two directories are mixed. The state is as it was.", steps)
        case .locked(_, let holder):
            let process = holder.map { "kill \($0)" } ?? "fuser \(quotedPath)/lock"
            let step = Step(
                text: "Stop the other service, then start again; or name another --data-dir.",
                commands: [process, serve]
            )
            return (Self.nothingIsLost, [step])
        case .wrongOwner(_, let owner, let user):
            let steps = [
                Step(
                    text: "Start as the user who owns the files.",
                    commands: ["sudo -u '#\(owner)' \(serve)"]
                ),
                Step(
                    text: "Or give all files to this user.",
                    commands: ["chown -R \(user) \(quotedPath)", serve]
                ),
            ]
            return (Self.nothingIsLost, steps)
        case .readOnlyDirectory:
            let step = Step(
                text: "Give the right to write, or mount the file system to be written.",
                commands: ["ls -ld \(quotedPath)", "findmnt -T \(quotedPath)", serve]
            )
            return (Self.nothingIsLost, [step])
        case .missingDirectory, .notADirectory: return ofNoState()
        case .otherLossAccepted(_, let last):
            let meaning =
                "The state is as it was. What is after record \(last) is damaged or missing: a start "
                + "without --accept-data-loss says where."
            return (meaning, [lookingAtLoss(last)])
        case .system where error.isOutOfSpace, .outOfSpace:
            // Not even a name found room.
            return ofFullDisk(JournalConfiguration(instanceID: 0).segmentByteCount + (1 << 20), 0)
        default: return ofSystem()
        }
    }

    private var serve: String { commands.serve() }

    var quotedPath: String { RefusalCommands.quoted(path) }

    private func ofNewerFormat() -> Consequences {
        let step = Step(
            text: "Start the version of feed-service that wrote the directory, or a later one.",
            commands: ["feed-service --version"]
        )
        return (Self.nothingIsLost, [step])
    }

    private func ofCopy() -> Consequences {
        let meaning =
            "The directory was copied or put back. If its original served longer, what was "
            + "acknowledged since is not in it, and under the same instance ids and sequences "
            + "would be given twice."
        let steps = [
            Step(text: "If you have the original, serve that one instead."),
            Step(
                text: "Serve this directory under a new instance: all that it has stays.",
                commands: [newInstance, serve]
            ),
        ]
        return (meaning, steps)
    }

    private func ofFullDisk(_ needed: Int, _ free: Int) -> Consequences {
        let (meaning, again) =
            switch command {
            case .serve(acceptedLoss: nil), .serveNode:
                ("Nothing is lost. The next start uses the files that this one has made.", [serve])
            case .serve(let left?):
                (
                    "No more is lost than was accepted. The same command finishes the acceptance.",
                    [commands.serve(nil, "--accept-data-loss \(left)")]
                )
            case .newInstance:
                (
                    "Nothing is lost. The same command finishes the change of the instance.",
                    [newInstance, serve]
                )
            case .beginCluster:
                (
                    "Nothing is lost. The directory is one machine's as long as the command fails.",
                    ["feed-service begin-cluster \(quotedPath)"]
                )
            case .recoverCluster:
                ("No more is lost than was accepted. The same command goes on.", [recoverCluster])
            }
        let step = Step(
            text: "Free \(Self.missingMebibytes(needed, free)) MiB on the file system of the "
                + "directory, and run it again. Delete nothing in the directory but old backups and "
                + "folders in quarantine.",
            commands: ["df -h \(quotedPath)"] + again
        )
        return (meaning, [step])
    }

    private var newInstance: String { "feed-service new-instance \(quotedPath)" }

    private func ofSystem() -> Consequences {
        let step = Step(
            text: "Look at the disk, the path and the rights, then start again.",
            commands: ["ls -ld \(quotedPath)", "dmesg | tail", serve]
        )
        return ("Nothing was served.", [step])
    }
}

// What a refusal says of a directory that is not the right one, or not this user's.
extension RefusalWords {
    private func ofNoState() -> Consequences {
        let steps = [
            Step(
                text: "Mount the disk, or correct the path.",
                commands: ["findmnt -T \(quotedPath)"]
            ),
            Step(
                text: "Only for a new feed without posts: type this, in a directory that is there.",
                commands: [commands.serve()]
            ),
        ]
        return ("There is nothing to serve at \(path). Nothing was made.", steps)
    }

    /// The directory has files of something else: perhaps the feed's is beside it.
    private func ofForeignFile() -> Consequences {
        var steps = neighbors.map { found in
            Step(
                text: "If you meant this directory, which has a state.db: serve that.",
                commands: [commands.serve(found, "--must-exist")]
            )
        }
        steps.append(
            Step(
                text: "Only for a new feed without posts: take a directory of the service's own.",
                commands: [commands.serve("\(path)/feed-data")]
            )
        )
        return ("The directory is used for something else. Nothing was changed.", steps)
    }

    /// The directories below this one, and the one above, that have a `state.db`.
    private var neighbors: [String] {
        let children = ((try? POSIXFiles.names(atPath: path)) ?? nil ?? []).sorted()
            .map { "\(path)/\($0)" }
        return ([parent] + children).filter {
            FileManager.default.fileExists(atPath: "\($0)/\(StateDatabase.fileName)")
                && !BackupVerification.isBackup(path: $0)
        }
    }

    /// A file that the service's user may not open.
    private func ofForbiddenFile(_ operation: String) -> Consequences {
        let user = getuid()
        let step = Step(
            text: "The service runs as user \(user), who may not \(operation) it. Start as "
                + "the user who owns the files, or give all of them to this one, with the right to read "
                + "and write.",
            commands: [
                "find \(quotedPath) ! -user \(user)", "chown -R \(user) \(quotedPath)",
                "chmod -R u+rwX \(quotedPath)", commands.serve(),
            ]
        )
        return ("Nothing is lost, and the state is as it was.", [step])
    }
}

// What a refusal says where `state.db` cannot be used, and of restores in place.
extension RefusalWords {
    /// Where `state.db` cannot be used: a backup, with the journal if it continues the backup; `first` is
    /// what to do where the file itself can be had again.
    private func withoutState(_ first: String, _ remedy: StateRemedy) -> Consequences {
        let puttingBack = Step(
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
            let elsewhere = Step(
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
        _ step: Step,
        puttingBack: Step
    ) -> Consequences {
        let has = "the journal here has all from the beginning, records 1 to \(last)."
        guard let problem else { return ("Nothing is lost: \(has)", [step, puttingBack]) }
        let meaning =
            "T\(has.dropFirst()) What state.db alone had after record \(last) is lost unless the file "
            + "comes back, as the journal is not whole: \(problem)"
        return (meaning, [puttingBack, step])
    }

    private var journal: String { WholeJournal.path(in: path) }

    /// What to do where a backup has more records than are left; nil where none has.
    private func moreThanIsLeft(_ left: UInt64, _ remedy: StateRemedy) -> Step? {
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
    private func inPlace(_ backup: String, _ problem: String?) -> Step {
        let start =
            problem == nil
            ? "the start adds the journal's records"
            : "the start then says which records of the journal are lost, and what to type"
        let way =
            backup == journal
            ? "Make state.db anew" : "Put this backup in the place of state.db"
        return Step(
            text: "\(way); \(start). The old files are kept in \(quarantine).",
            commands: restoringInPlace(backup)
        )
    }

    private func ofInterruptedInPlaceRestore(of backup: String) -> Consequences {
        let step = Step(
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
            let again = Step(
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
            let step = Step(
                text: "Free \(Self.missingMebibytes(needed, free)) MiB on the file system of the "
                    + "directory, and run it again.",
                commands: ["df -h \(RefusalCommands.quoted(directory))"] + restoringInPlace(backup)
            )
            return (nothing, [step])
        case .storage(.locked(_, let holder)):
            let lock = RefusalCommands.quoted("\(path)/lock")
            let process = holder.map { "kill \($0)" } ?? "fuser \(lock)"
            let step = Step(
                text: "Stop the service, and run it again.",
                commands: [process] + restoringInPlace(backup)
            )
            return (nothing, [step])
        default:
            let step = Step(
                text: "Take another backup, or look at the path, the disk and the rights. "
                    + "`feed-service verify` and a backup's path say whether one is whole."
            )
            return (nothing, [step])
        }
    }

    private func restoringInPlace(_ backup: String) -> [String] {
        [commands.restoreInPlace(backup), commands.serve()]
    }

    private func restoring(_ backup: String) -> Step {
        Step(
            text: "Restore the backup into a new directory, and serve that.",
            commands: restoring(RestoreSource(path: backup), into: commands.restored)
        )
    }

    private var quarantine: String {
        RefusalCommands.quoted("\(path)/\(Quarantine.directoryName)")
    }

    private func name(of backup: String) -> String {
        backup.split(separator: "/").last.map(String.init) ?? backup
    }
}

// Which file would undo a loss.
extension RefusalWords {
    /// What to put back, as the beginning of a sentence.
    private func puttingBack(_ loss: StateLoss) -> String {
        switch (loss.problem, loss.place) {
        case (.missingWatermark, _):
            "If you have \(SegmentJournal.watermarkName) as it was, put it back"
        case (.damagedRecord(let file, _, _, _), _): "If you have \(file) as it was, put it back"
        case (_, .segment(let name)?):
            "If you have \(name) and the segments after it, put them back"
        case (_, .end(let name, let offset, let next)?):
            "If you have \(name) as it was, with what is after offset \(offset), or \(next) where "
                + "that begins the records, put it back"
        default:
            "If you have the segments that have the records, put them back into "
                + RefusalCommands.quoted("\(path)/\(SegmentJournal.directoryName)")
                + "; or state.db-wal, if that was removed"
        }
    }
}

// What a refusal says of backups and restores.
extension RefusalWords {
    /// How to get a directory that a backup was restored into.
    private var restoringStep: Step {
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

    private func restoring(_ source: RestoreSource, into directory: String) -> [String] {
        [commands.restore(source, into: directory), commands.serveRestored(directory)]
    }

    /// A restore was killed, from this source where it has noted one.
    private func ofInterruptedRestore(of source: RestoreSource?) -> Consequences {
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
    private func ofBackup() -> Consequences {
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
        let newDirectory = { (commands: RefusalCommands) in
            Step(
                text: "Restore into a directory that is not there yet, and serve that.",
                commands: restoring(source, into: commands.restored)
            )
        }
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
            return (nothing, [newDirectory(RefusalCommands(path: source.path))])
        case .noRoom(_, let needed, let free):
            let step = Step(
                text: "Free \(Self.missingMebibytes(needed, free)) MiB on the file system of the "
                    + "directory, and run it again.",
                commands: ["df -h \(RefusalCommands.quoted(parent))"]
                    + restoring(source, into: path)
            )
            return (nothing, [step])
        case .storage(.notEmpty), .storage(.locked):
            return (nothing, [newDirectory(commands)])
        case .storage(.notABackup), .notContinued, .notAll, .installing: return (nothing, [])
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
        case .storage(let error) where error.isDamage: return (nothing, [another])
        case .storage(.changedBackup), .storage(.unfinishedCheckpoint), .storage(.newerFormat):
            return (nothing, [another])
        case .storage:
            let step = Step(
                text: "Look at the disk, the path and the rights, then run it again.",
                commands: ["ls -ld \(RefusalCommands.quoted(parent))", "dmesg | tail"]
                    + restoring(source, into: path)
            )
            return (nothing, [step])
        }
    }

    /// The directory above, which is there where a directory was to be made.
    private var parent: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The MiB that are to be freed so that so many bytes are free, rounded up; 1 at least.
    private static func missingMebibytes(_ needed: Int, _ free: Int) -> Int {
        max(1, (needed - free + (1 << 20) - 1) >> 20)
    }
}
