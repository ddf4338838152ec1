internal import ArgumentParser
internal import FeedClient
internal import Foundation

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
        try write(try await answer())
    }

    /// Connects as the person, makes the calls and closes the connection.
    func answer() async throws -> any Report {
        let client = try await FeedClient.connect(
            naming: options.target,
            try options.configuration()
        )
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

    /// Prints a report.
    func write(_ report: any Report) throws { try options.write(report) }
}

extension PersonOptions {
    /// Prints a report for people or for programs.
    func write(_ report: any Report) throws {
        try Console.write(
            json ? try report.json() : report.text(.current),
            to: .standardOutput
        )
    }
}
