internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Shows all feeds.
struct FeedsCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "feeds",
        abstract: "Lists the feeds and their policies."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        FeedsReport(try await client.feeds())
    }
}

/// Shows the service's counters.
struct StatsCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows how the service is doing."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        StatsReport(try await client.stats())
    }
}

/// Asks whether the service answers.
struct PingCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Tells whether the service answers, and how soon."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let start = ContinuousClock.now
        let answer = try await client.ping()
        return PingReport(client.service, answer, roundTrip: .now - start)
    }
}

/// Shows the state of the backups.
struct BackupsCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "Shows when the last backup was made, when the next one is due, and what failed."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let stats = StatsReport(try await client.stats())
        guard stats.isWhole else { throw BackupFailure.untold }
        return stats.backups
    }
}
