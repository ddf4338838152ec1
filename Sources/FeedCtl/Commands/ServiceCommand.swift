internal import ArgumentParser
internal import FeedClient

/// A command that calls the service once it is connected, and reports the answers.
protocol ServiceCommand: AsyncParsableCommand {
    /// Where the service is, and whether people or programs read the output.
    var options: ServiceOptions { get }

    /// The flags that give the caller the identity which the calls may need.
    static var identityFlags: String { get }

    /// The configuration of the connection.
    var configuration: ClientConfiguration { get throws }

    /// The report of a command line that needs no service; nil where it needs one.
    func report() throws -> (any Report)?

    /// Makes the calls.
    func perform(_ client: FeedClient) async throws -> any Report
}

extension ServiceCommand {
    static var identityFlags: String { "--client-id or --acting-user" }

    var configuration: ClientConfiguration {
        get throws { try options.configuration }
    }

    func report() -> (any Report)? { nil }

    /// Connects, makes the calls, closes the connection and prints the report.
    func run() async throws {
        if let report = try report() {
            return try report.print(asJSON: options.json)
        }
        let client = try await FeedClient.connect(
            naming: options.target.settings().address,
            configuration
        )
        let report: any Report
        do {
            let user = options.actingUser
            report = try await perform(user == 0 ? client : client.acting(for: user))
        } catch {
            await client.close()
            throw (error as? FeedClientError)?
                .naming(identityFlags: Self.identityFlags, keyFlag: "--service-key-file") ?? error
        }
        await client.close()
        try report.print(asJSON: options.json)
    }
}
