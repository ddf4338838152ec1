internal import FeedJournal
internal import Foundation

// What a refusal says of a directory that is not the right one, or not this user's.
extension RefusalWords {
    /// There is no state where one has to be.
    func ofNoState() -> Consequences {
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
    func ofForeignFile() -> Consequences {
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

    private var parent: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// A file that the service's user may not open.
    func ofForbiddenFile(_ error: FileError) -> Consequences {
        let user = getuid()
        let step = Step(
            text: "The service runs as user \(user), who may not \(error.operation) it. Start as "
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
