internal import ArgumentParser
package import FeedClient
internal import FeedProto
internal import FeedText
internal import Synchronization

/// A command that calls the service once it is connected, and reports the answers.
protocol ServiceCommand: AsyncParsableCommand {
    /// Where the service is, and whether people or programs read the output.
    var options: ServiceOptions { get }

    /// The flags that give the caller the identity which the calls may need.
    static var identityFlags: String { get }

    /// Whether the command is about one service of a cluster, so that no other one may take its place.
    static var isOfOneService: Bool { get }

    var configuration: ClientConfiguration { get throws }

    func perform(_ client: FeedClient) async throws -> any Report
}

extension ServiceCommand {
    static var identityFlags: String { "--client-id or --acting-user" }

    static var isOfOneService: Bool { false }

    var configuration: ClientConfiguration { get throws { try options.configuration } }

    /// Connects, makes the calls, closes the connection and prints the report.
    func run() async throws { try await callService() }

    /// What ``run()`` does, for a command that does not always call the service.
    func callService() async throws {
        let addresses = try options.target.settings().addresses
        var configuration = try configuration
        if Self.isOfOneService { configuration.staysAtAddresses = true }
        let report = try await FeedClient.withConnection(to: addresses, configuration) { client in
            do {
                let user = options.actingUser
                return try await perform(user == 0 ? client : client.acting(for: user))
            } catch let error as FeedClientError {
                throw error.naming(identityFlags: Self.identityFlags, keyFlag: "--service-key-file")
            }
        }
        try report.print(asJSON: options.json)
    }
}

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
    private var clientID: ClientID?

    @Option(
        help: ArgumentHelp(
            "A file with the key of a service, as feed-service new-service-key writes it.",
            valueName: "file"
        )
    )
    private var serviceKeyFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Act for this user; for services only.", valueName: "user")
    )
    var actingUser: UserID = 0

    @Flag(help: "Print JSON for programs.")
    var json = false

    /// Whether the caller has an identity that ballots and marks belong to.
    var hasViewer: Bool { clientID != nil || actingUser != 0 }

    var configuration: ClientConfiguration {
        get throws {
            let key = try serviceKey
            var configuration = ClientConfiguration(try target.settings(), timeout)
            configuration.clientID = clientID
            configuration.serviceKey = key
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

    static func readClientID(_ text: String) throws -> ClientID {
        guard let id = ClientID(text) else {
            throw ValidationError("expected \(2 * ClientID.byteCount) hexadecimal digits")
        }
        return id
    }
}

extension ClientConfiguration {
    /// How feedctl names itself, secures its connection, and how long it waits for that and for an answer.
    init(_ settings: TargetSettings, _ timeout: TimeoutOption) {
        self.init()
        clientName = "feedctl"
        tls = settings.security
        // Who names one service of a cluster means that one; changes are the leader's all the same.
        reads = settings.addresses.count > 1 ? .leader : .any
        staysAtAddresses = settings.staysAtAddresses
        self.timeout = timeout.duration()
        connectTimeout = self.timeout
        firstCallWaitsForOpening = true
        if settings.addresses.count > 1 {
            // A cluster that elects its next leader is back in a moment; a single service may be none.
            waitsForService = true
            let notice = WaitNotice(self.timeout)
            whenWaiting = { notice.tell($0) }
        }
    }
}

/// Says once that the command waits for a service, so that nobody takes it for hung.
private final class WaitNotice: Sendable {
    private let limit: Duration
    private let isTold = Atomic<Bool>(false)

    /// A notice for calls that wait so long at most.
    init(_ limit: Duration) { self.limit = limit }

    func tell(_ cause: FeedClientError) {
        guard !isTold.exchange(true, ordering: .relaxed) else { return }
        let text = VisibleText.line(cause.description)
        Console.notify("feedctl: no service takes the call, trying again for \(limit): \(text)\n")
    }
}

extension FeedClient {
    /// Connects, runs the body and closes the connection; the error of a connection names the address.
    static func withConnection<Value>(
        to addresses: [String],
        _ configuration: ClientConfiguration,
        _ body: (FeedClient) async throws -> Value
    ) async throws -> Value {
        let client = try await connected(to: addresses, configuration)
        return try await closing(client.close) { try await body(client) }
    }

    /// A connected client; the error of a connection names the address.
    static func connected(
        to addresses: [String],
        _ configuration: ClientConfiguration
    ) async throws(FeedClientError) -> FeedClient {
        do throws(FeedClientError) {
            return try await connect(to: addresses, configuration: configuration)
        } catch {
            throw error.naming(target: addresses.joined(separator: ","))
        }
    }
}

/// Runs the body, and then closes what it uses, whether it has succeeded or not.
func closing<Value>(
    _ close: () async -> Void,
    after body: () async throws -> Value
) async throws -> Value {
    do {
        let value = try await body()
        await close()
        return value
    } catch {
        await close()
        throw error
    }
}

extension FeedClientError {
    /// The error; if an identity or a key is missing, with the flags that give one.
    package func naming(identityFlags: String, keyFlag: String? = nil) -> FeedClientError {
        guard case .refused(var status) = self else { return self }
        let flags: String? =
            switch status.reason {
            case .identityRequired: identityFlags
            case .serviceOnly: keyFlag
            case .roleDenied: keyFlag.map { "a key of another role: \($0)" }
            default: nil
            }
        guard let flags else { return self }
        status.message += " (\(flags))"
        return .refused(status)
    }

    /// The error; if there is no connection, with the address of the service.
    package func naming(target: String) -> FeedClientError {
        guard case .cannotConnect(let reason) = self else { return self }
        return .cannotConnect(reason: "\(target): \(reason)")
    }
}
