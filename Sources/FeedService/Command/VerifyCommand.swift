internal import ArgumentParser
internal import FeedState

/// `feed-service verify DIR`: reads a data directory as a start would, and says what it holds.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks a data directory that no service uses, without serving it.",
        discussion: """
            Reads every row and every record of the journal. Exits with 0 where all is whole, with \
            3 where a service has the directory, with 4 where a part is of another directory or a \
            newer format, and with 5 where anything is damaged or missing.
            """
    )

    @Argument(help: "The data directory.")
    var directory: String

    @Flag(name: .long, help: .hidden)
    var replayAll = false

    func run() throws {
        let found: StateVerification
        do throws(StateStartError) {
            found = try StateVerification.run(path: directory, replaysAll: replayAll)
        } catch {
            throw ServiceStartError.state(error)
        }
        print("instance \(FeedServer.hex(found.instanceID))")
        print("posts \(found.postCount)")
        print(
            "journal up to record \(found.lastSequence): \(found.recordCount) records with "
                + "\(found.effectCount) effects behind the fold at \(found.foldedSequence)"
        )
        print("state hash \(FeedServer.hex(found.stateHash))")
        guard let replayed = found.replayedHash else { return }
        print("replayed hash \(FeedServer.hex(replayed))")
        guard replayed == found.stateHash else {
            throw ServiceStartError.differs(directory)
        }
    }
}
