internal import ArgumentParser
internal import FeedState

/// `feed-service restore BACKUP DIR`: makes a data directory of a backup.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a data directory of a backup.",
        discussion: """
            A backup is a directory below backups/ of a data directory, as feedctl backup makes it. \
            It is checked whole. The new directory has another instance id, so that clients can \
            tell that what they had in doubt may be unknown here.
            """
    )

    @Argument(help: "The backup's directory.")
    var backup: String

    @Argument(help: "The data directory to make: missing, or empty.")
    var directory: String

    func run() throws {
        do throws(StateError) {
            try StateDatabase.restore(backup: backup, into: directory)
        } catch {
            throw ServiceStartError.state(.state(error))
        }
        print("restored \(backup) into \(directory)")
    }
}
