internal import ArgumentParser
internal import FeedClient

/// Stops the service as SIGTERM does.
struct DrainCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Stops the service: it finishes what it has received, and ends.",
        discussion: """
            The same as SIGTERM, from another machine: with the key of an operator where the service \
            has keys. A supervisor that starts the service again does so after this, too.
            """
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.drain()
        return DrainReport(isDraining: true)
    }
}
