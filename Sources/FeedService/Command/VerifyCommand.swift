internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// `feed-service verify DIR`: reads a data directory as a start does, and prints its content.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a backup, or a data directory that no service uses, without serving it.",
        discussion: """
            Reads every row and every record of the journal, and writes nothing; a backup has rows \
            only. Exits with 0 where all is whole, with 2 where there is no state, with 3 where a \
            service has the directory, with 4 where a part is of another directory or a newer \
            format, and with 5 where anything is damaged or missing. Damage in records of the journal \
            that state.db has already is reported, also of those that --journal-keep has kept, and loses \
            nothing.
            """
    )

    @Argument(help: "The data directory, or the backup's directory.")
    var directory: String

    @OptionGroup var deletions: DeletedAccountsOptions

    @Flag(name: .long, help: .hidden)
    var replayAll = false

    func run() throws {
        guard !BackupVerification.isBackup(path: directory) else { return try verifyBackup() }
        let found: StateVerification
        do throws(StateStartError) {
            found = try StateVerification.run(path: directory, replaysAll: replayAll)
        } catch {
            let isNode = StateVerification.isOfCluster(path: directory)
            throw ServiceStartError.refused(
                StartRefusal(error, directory: directory, command: isNode ? .serveNode : .serve())
            )
        }
        print("instance \(FeedServer.hex(found.instanceID))")
        print("posts \(found.postCount)")
        print(
            "journal up to record \(found.lastRecord): \(found.recordCount) records with "
                + "\(found.entryCount) log entries after the checkpoint at "
                + "\(found.checkpointedRecord)"
        )
        if let damage = found.checkpointedDamage { print(damage) }
        if let problem = found.keptProblem { print(problem) }
        print("state hash \(FeedServer.hex(found.stateHash))")
        try deletions.name(in: found.accounts)
        guard let replayed = found.replayedHash else { return }
        print("replayed hash \(FeedServer.hex(replayed))")
        guard replayed == found.stateHash else {
            throw ServiceStartError.differs(directory)
        }
    }

    private func verifyBackup() throws {
        let found: BackupVerification
        do throws(StorageError) {
            found = try BackupVerification.run(path: directory)
        } catch {
            throw ServiceStartError.state(.storage(error))
        }
        print("\(directory) is a complete backup")
        print("instance \(FeedServer.hex(found.instanceID))")
        print("posts \(found.postCount)")
        print("revision \(found.revision), up to record \(found.lastRecord) of the journal")
        print("state hash \(FeedServer.hex(found.stateHash))")
        print("state hash after a restore \(FeedServer.hex(found.restoredStateHash))")
        try deletions.name(in: found.accounts)
    }
}
