internal import ArgumentParser

/// `feed-service new-service-key NAME FILE`: makes a key for a program that is to have a role.
struct NewServiceKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-service-key",
        abstract: "Makes a key for a program, and prints its line for --service-keys.",
        discussion: """
            The key is written to a new file, which only you may read: give it to the program, as in \
            feedctl --service-key-file. The line has the name, the hash and the role of the key. It \
            is not secret, and it belongs into the file of --service-keys: \
            feed-service new-service-key web web.key >> service.keys
            """
    )

    @Argument(help: "The name of the key, for the log: ASCII letters, digits, ., _ and -.")
    var name: String

    @Argument(help: "The new file for the key.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "What the key makes its caller: app (as without a key), reader (changes nothing), service "
                + "(imports, creates feeds, corrects times, acts for users), operator (backs up, stops the "
                + "service, sets the level of the log).",
            valueName: "role"
        )
    )
    var role = KeyRole.service.rawValue

    func run() throws {
        guard ServiceKey.isName(name) else {
            throw ServiceStartError.badFlag(
                "NAME",
                "expected 1 to \(ServiceKey.maximumNameLength) ASCII letters, digits, ., _ and -."
            )
        }
        guard let role = KeyRole(rawValue: role) else {
            throw ServiceStartError.badFlag(
                "--role",
                "expected one of \(KeyRole.list), got \(role)."
            )
        }
        let made = NewServiceKey(name: name, role: role)
        do throws(ServiceKeyFileError) {
            try PrivateFile.create(file, Array("\(made.digits)\n".utf8))
        } catch {
            throw ServiceStartError.badFlag("FILE", "\(error)")
        }
        print(ServiceKeyFile.line(of: made.key))
    }
}
