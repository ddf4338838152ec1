internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedProto

/// Votes a post up.
struct UpCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Votes a post up."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        VoteReport(try await client.vote(on: id, .up))
    }

    func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        try await feed.vote(on: id, .up)
    }
}

/// Votes a post down.
struct DownCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Votes a post down."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        VoteReport(try await client.vote(on: id, .down))
    }

    func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        try await feed.vote(on: id, .down)
    }
}
