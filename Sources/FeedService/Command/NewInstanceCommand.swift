internal import ArgumentParser
internal import FeedJournal
internal import FeedState

/// `feed-service new-instance DIR`: gives a data directory another instance id.
struct NewInstanceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-instance",
        abstract: "Gives a data directory that no service uses a new instance id.",
        discussion: """
            For a directory that was copied, or put back from a copy: posts, votes and feeds stay. \
            Clients see another instance, so they know that their calls in doubt may be unknown \
            here; page tokens and channels of the old instance mean nothing any more.
            """
    )

    @Argument(help: "The data directory.")
    var directory: String

    func run() throws {
        let change: InstanceChange
        do throws(StateStartError) {
            change = try InstanceChange.run(path: directory)
        } catch {
            throw ServiceStartError.refused(
                StartRefusal(error, directory: directory, command: .newInstance)
            )
        }
        print("instance \(hexadecimal(change.old)) is instance \(hexadecimal(change.new)) now")
    }
}
