public import ArgumentParser
internal import FeedClient
public import FeedProto
internal import Foundation

/// The options of every command that say where the service is and how the connection to it is secured.
struct TargetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The service, or the services of a cluster with commas between them. (default: that of feedctl \
            login, else \(FeedClient.defaultAddress))
            """,
            valueName: "host[:port],..."
        )
    )
    var target: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Secure the connection with TLS 1.3, and check the name in the certificate."
    )
    var tls: Bool?

    @Option(
        help: ArgumentHelp(
            "With --tls: the certificates that vouch for the service's. (default: the system's)",
            valueName: "file"
        )
    )
    var ca: String?

    @Option(
        help: ArgumentHelp("With --tls: the certificate to show the service.", valueName: "file")
    )
    var cert: String?

    @Option(
        help: ArgumentHelp("With --tls: the private key of the certificate.", valueName: "file")
    )
    var key: String?

    @Option(
        help: ArgumentHelp(
            "The folder with the device's id and the session. (default: feedctl in XDG_CONFIG_HOME)",
            valueName: "folder"
        )
    )
    var profile: String?

    var variables: Variables { get throws { try Variables(ProcessInfo.processInfo.environment) } }

    var folder: String {
        get throws {
            try profile ?? variables.profile
                ?? Profile.defaultPath(ProcessInfo.processInfo.environment)
        }
    }

    /// What `feedctl login` has kept; nothing if nobody has signed in.
    var kept: TargetSettings { get throws { try Profile.target(in: folder) } }

    /// What the flags say, else the variables, else the profile.
    func settings() throws -> TargetSettings {
        let flags = TargetSettings(target: target, tls: tls, ca: ca, cert: cert, key: key)
        let settings = try flags.over(variables.target).over(profile: kept)
        if let problem = settings.problem { throw ValidationError(problem) }
        return settings
    }
}

struct TimeoutOption: ParsableArguments {
    private static let defaultSeconds = 5.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long a call may take. (default: \(Int(defaultSeconds)))",
            valueName: "seconds"
        )
    )
    var timeout: Double?

    func validate() throws {
        guard let timeout else { return }
        guard (0.001...86_400).contains(timeout) else {
            throw ValidationError("--timeout: expected 0.001 to 86400 seconds, got \(timeout).")
        }
    }

    /// The time that the command line says, or else `seconds`; nil is the default of most commands.
    func duration(default seconds: Double? = nil) -> Duration {
        .milliseconds(Int64((timeout ?? seconds ?? Self.defaultSeconds) * 1_000))
    }
}

/// The order of a list, and the time that its posts are of.
struct OrderOptions: ParsableArguments {
    @Option(help: "The order; without it, the feed's own.")
    private var order: WireArgument<Order>?

    @Option(help: "Only posts of the last hour, day …; for top, controversial and discussed.")
    private var window: WireArgument<Window>?

    /// The order, or that of the feed.
    var requestedOrder: Order { order?.value ?? .unspecified }

    /// The window, or all time.
    var requestedWindow: Window { window?.value ?? .unspecified }
}

/// The list that a person looks at, and how much of it.
struct ShownListOptions: ParsableArguments {
    @Argument(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @OptionGroup var ordering: OrderOptions

    @Option(help: "How many posts are shown at once, 1 to 100.")
    var rows = 20

    func validate() throws {
        guard (1...100).contains(rows) else {
            throw ValidationError("--rows: expected 1 to 100, got \(rows).")
        }
    }
}

// An id on the command line is its number, but a session's has 16 hexadecimal digits.

extension PostID: ExpressibleByArgument {}
extension UserID: ExpressibleByArgument {}

extension SessionID: ExpressibleByArgument {
    /// The id of its digits.
    public init?(argument: String) {
        guard let number = UInt64(argument, radix: 16) else { return nil }
        self.init(rawValue: number)
    }
}

/// A value of an enum of the contract, which the command line takes by its name in small letters.
struct WireArgument<Value: WireEnum>: ExpressibleByArgument {
    let value: Value

    init(_ value: Value) { self.value = value }

    init?(argument: String) {
        guard let place = Self.allValueStrings.firstIndex(of: argument) else { return nil }
        value = Value(rawValue: Int32(place + 1))
    }

    var defaultValueDescription: String { value.argument }

    static var allValueStrings: [String] { Value.names.dropFirst().map { $0.lowercased() } }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension WireEnum {
    /// The value as the command line takes it and JSON has it, as `up`; empty if it is unspecified.
    var argument: String { rawValue == 0 ? "" : description.lowercased() }
}
