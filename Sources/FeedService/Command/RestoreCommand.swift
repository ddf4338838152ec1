internal import ArgumentParser
internal import FeedState

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
            quarantine/. Where the whole directory is a copy, type feed-service new-instance afterwards.
            """
    )

    @Argument(help: "The backup's directory.")
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

    func run() throws {
        guard !inPlace else { return try runInPlace() }
        do throws(RestoreError) {
            try BackupRestore.run(backup: backup, into: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, of: backup, into: directory)
            )
        }
        print("restored \(backup) into \(directory)")
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
