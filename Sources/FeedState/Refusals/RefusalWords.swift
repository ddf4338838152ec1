internal import FeedJournal
internal import FeedSQLite

/// What a refusal means, and the ways on.
struct RefusalWords {
    typealias Step = StartRefusal.Step
    typealias Consequences = (meaning: String, steps: [StartRefusal.Step])

    private static let nothingIsLost = "Nothing is lost, and the state is as it was."

    /// The data directory, or the one that was to be one.
    let path: String
    /// What a person can type for it.
    let commands: RefusalCommands
    /// The records that backups and the journal have beyond one, looked up where it is needed.
    let remedy: (UInt64) -> StateRemedy
    /// What was typed.
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

    /// What an error means for the state, and what to type.
    func consequences(of error: StateStartError) -> Consequences {
        switch error {
        case .loss(let loss): return ofLoss(loss)
        case .journal(let error), .state(.directory(let error)): return ofJournal(error)
        case .state(let error): return ofState(error)
        case .inPlaceInterrupted(_, let backup): return ofInterruptedInPlaceRestore(of: backup)
        case .missingDatabase:
            return withoutState(
                "If state.db was moved, or its disk is not mounted, put it back.",
                remedy(0)
            )
        case .entries, .recovery:
            return withoutRecords(
                "Keep the directory: its files are whole, and show a fault of the program."
            )
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
        steps.append(
            Step(
                text: "See what would be dropped; nothing is changed.",
                commands: [commands.serve(nil, "--accept-data-loss \(left)", "--dry-run")]
            )
        )
        let kept = RefusalCommands.quoted("\(path)/\(Quarantine.directoryName)")
        steps.append(
            Step(
                text: "Serve what is left. What is dropped is kept in \(kept); clients see a new "
                    + "instance.",
                commands: [commands.serve(nil, "--accept-data-loss \(left)")]
            )
        )
        let hold = more == nil && !commands.backups.isEmpty
        steps.append(
            Step(text: backupList + (hold ? " They hold no more than what is left." : ""))
        )
        return (Self.meaning(of: loss), steps)
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

    /// The backups below the directory, as a sentence.
    var backupList: String {
        let folder = "\(path)/\(BackupFolders.directory)"
        let backups = commands.backups
        guard !backups.isEmpty else { return "There are no backups in \(folder)." }
        let shown = backups.prefix(5).joined(separator: ", ")
        let rest = backups.count > 5 ? ", and \(backups.count - 5) older ones" : ""
        return "Backups in \(folder), newest first: \(shown)\(rest)."
    }

    private func ofState(_ error: StateError) -> Consequences {
        guard !error.isDamage else {
            return withoutState(
                "If you have state.db as it was, put it back, and start again.",
                remedy(0)
            )
        }
        switch error {
        case .newerFormat: return ofNewerFormat()
        case .file(let error) where error.isForbidden: return ofForbiddenFile(error)
        case .database(.locked):
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
        default: return ofSystem()
        }
    }

    private func ofJournal(_ error: JournalError) -> Consequences {
        switch error {
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
        case .newerFormat: return ofNewerFormat()
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
            let step = Step(
                text: "See what would be dropped; nothing is changed.",
                commands: [commands.serve(nil, "--accept-data-loss \(last)", "--dry-run")]
            )
            let meaning =
                "The state is as it was. What is after record \(last) is damaged or missing: a start "
                + "without --accept-data-loss says where."
            return (meaning, [step])
        case .file(let error) where error.isForbidden: return ofForbiddenFile(error)
        case _ where StateStartError.journal(error).isOutOfSpace:
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
            case .serve(acceptedLoss: nil):
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
