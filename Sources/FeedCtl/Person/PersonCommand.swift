internal import ArgumentParser
internal import FeedClient

/// A command of a person, who is known by a profile, and reports the answers.
protocol PersonCommand: AsyncParsableCommand {
    /// Where the service and the profile are.
    var options: PersonOptions { get }

    /// Makes the calls.
    func perform(_ client: FeedClient) async throws -> any Report
}

extension PersonCommand {
    /// Makes the calls and prints the report.
    func run() async throws {
        try await answer().print(asJSON: options.json)
    }

    /// Connects as the person, makes the calls and closes the connection.
    func answer() async throws -> any Report {
        let client = try await options.connect()
        let report: any Report
        do {
            report = try await perform(client)
        } catch {
            await client.close()
            let failure = error as? FeedClientError
            throw failure?.naming(identityFlags: "feedctl login or feedctl signup") ?? error
        }
        await client.close()
        return report
    }

}
