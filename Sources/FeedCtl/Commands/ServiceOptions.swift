internal import ArgumentParser
internal import FeedClient

/// The options of every command: where the service is, who calls it, and who reads the output.
struct ServiceOptions: ParsableArguments {
    @OptionGroup var target: TargetOptions

    @OptionGroup var timeout: TimeoutOption

    @Option(
        help: ArgumentHelp(
            "Who calls, for feeds whose votes are ballots: 32 hexadecimal digits to keep for good.",
            valueName: "id"
        ),
        transform: Self.readClientID
    )
    var clientID: ClientID?

    @Option(
        help: ArgumentHelp(
            "A file with the key of a service, as feed-service new-service-key writes it.",
            valueName: "file"
        )
    )
    var serviceKeyFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Act for this user; for services only.", valueName: "user")
    )
    var actingUser: UInt64 = 0

    @Flag(help: "Print JSON for programs.")
    var json = false

    /// Whether the caller has an identity that ballots and marks belong to.
    var hasViewer: Bool { clientID != nil || actingUser != 0 }

    /// The configuration of the connection.
    var configuration: ClientConfiguration {
        get throws {
            var configuration = ClientConfiguration()
            configuration.clientName = "feedctl"
            configuration.clientID = clientID
            configuration.serviceKey = try serviceKey
            configuration.tls = try target.settings().security
            configuration.timeout = timeout.duration()
            configuration.connectTimeout = configuration.timeout
            return configuration
        }
    }

    private var serviceKey: Secret? {
        get throws {
            guard let path = try serviceKeyFile ?? target.variables.serviceKeyFile else {
                return nil
            }
            guard let key = Secret(file: path) else {
                throw ValidationError(
                    "--service-key-file: \(path) cannot be read, or is not one line of 64 "
                        + "hexadecimal digits."
                )
            }
            return key
        }
    }

    /// Reads the option of a client id.
    static func readClientID(_ text: String) throws -> ClientID {
        guard let id = ClientID(text) else {
            throw ValidationError("expected \(2 * ClientID.byteCount) hexadecimal digits")
        }
        return id
    }
}
