internal import ArgumentParser
internal import FeedClient

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
