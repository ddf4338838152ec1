internal import ArgumentParser
internal import FeedState
internal import Foundation

/// `feed-service restore BACKUP DIR`: makes a data directory of a backup.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a data directory of a backup.",
        discussion: """
            A backup is a directory below backups/ of a data directory, as feedctl backup makes it. \
            It is checked whole, and nothing of it is changed. The new directory has another \
            instance id, so that clients can tell that what they had in doubt may be unknown here. \
            A directory whose restore was interrupted is not served: run the same command again.

            With --in-place the backup is put in the place of the state.db of a data directory, which \
            is missing or damaged. That is done only where the journal there continues the backup: \
            the instance stays, and where the journal is whole from the backup on, nothing is lost. \
            Else the command says which records are missing, and changes nothing. Where the journal \
            is damaged at a later record, the next start says what is lost. The old files are kept in \
            quarantine/. In the place of a backup the directory's own journal/ can be typed: where that \
            has all records from the beginning, state.db is made anew. Where the whole directory is a copy, type feed-service new-instance afterwards.

            With --at or --at-revision the first directory is a data directory, which a service may \
            use: the newest of its backups before the moment is restored, and its journal is replayed \
            up to the moment. The journal reaches back as far as --journal-keep says.
            """
    )

    @Argument(
        help:
            "The backup's directory. With --at: a data directory. With --in-place also its journal/."
    )
    var backup: String

    @Argument(
        help: """
            The data directory to make: missing, empty, or of a restore that was interrupted. With \
            --in-place: the one that has the journal.
            """
    )
    var directory: String

    @Flag(name: .long, help: "Put the backup in the place of the directory's state.db.")
    var inPlace = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Restore the state of a time, as 2026-11-25T14:05:00Z or with an offset as +01:00; or "
                + "of a folder's name in backups/.",
            valueName: "moment"
        )
    )
    var at: String?

    @Option(
        name: .long,
        parsing: .unconditional,
        help: "Restore the state of a revision of the service."
    )
    var atRevision: UInt64?

    @OptionGroup var deletions: DeletedAccountsOptions

    func run() throws {
        if let moment = try moment() {
            try run(to: moment)
            return try deletions.name(of: directory, after: backup)
        }
        guard !inPlace else { return try runInPlace() }
        do throws(RestoreError) {
            try BackupRestore.run(backup: backup, into: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, of: source, into: directory)
            )
        }
        print("restored \(backup) into \(directory)")
        try deletions.name(of: directory, after: KnownAccounts.directory(ofBackup: backup))
    }

    /// What --at and --at-revision say.
    private func moment() throws(ServiceStartError) -> RestoreMoment? {
        guard at != nil || atRevision != nil else { return nil }
        guard !inPlace else {
            throw .badFlag("--in-place", "expected without --at or --at-revision.")
        }
        guard let at else { return atRevision.map(RestoreMoment.revision) }
        guard atRevision == nil else { throw .badFlag("--at-revision", "expected without --at.") }
        if BackupFolders.time(of: at) != nil { return .backup(at) }
        if let date = ZonedTime.date(at) { return .time(date) }
        throw .badFlag(
            "--at",
            "expected a time with its zone, as 2026-11-25T14:05:00Z, or a folder's name in backups/, "
                + "got \(at)."
        )
    }

    /// What was typed before the directory to make.
    private var source: RestoreSource {
        let flags = at.map { ["--at", $0] } ?? atRevision.map { ["--at-revision", "\($0)"] } ?? []
        return RestoreSource(path: backup, flags: flags)
    }

    private func run(to moment: RestoreMoment) throws {
        let made: MomentRestore
        do throws(RestoreError) {
            made = try MomentRestore.run(of: source, to: moment, into: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, of: source, into: directory)
            )
        }
        for name in made.damaged {
            print("the backup \(name) is damaged and was passed over: look at the disk")
        }
        print("restored \(backup) into \(directory) as of \(moment)")
        let records = made.records.map { records in
            "and the records \(records.lowerBound) to \(records.upperBound) of the journal"
        }
        print("of the backup \(made.backup) \(records ?? "alone")")
        let time = made.time.map { "; the last commit batch began at \($0.milliseconds)" } ?? ""
        print("up to revision \(made.revision)\(time)")
        guard let next = made.nextRecord, let nextTime = made.nextTime else { return }
        print(
            "the first commit batch that is left out is record \(next), which began at "
                + "\(nextTime.milliseconds) and ends with revision \(made.nextRevision ?? 0)"
        )
    }

    private func runInPlace() throws {
        let found: InPlaceRestore
        do throws(RestoreError) {
            found = try InPlaceRestore.run(backup: backup, directory: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, of: backup, inPlaceOf: directory)
            )
        }
        for name in found.kept { print("moved the old file to \(directory)/\(name)") }
        print(
            "put \(backup) in the place of \(directory)/state.db: it ends with record "
                + "\(found.checkpointed), and the journal with record \(found.last)"
        )
        if let problem = found.problem { print("the next start refuses the journal: \(problem)") }
    }
}
