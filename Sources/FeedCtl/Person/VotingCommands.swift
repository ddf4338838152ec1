internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Votes a post up.
struct UpCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Votes a post up."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        VoteReport(try await client.vote(on: id, .up))
    }
}

/// Votes a post down.
struct DownCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Votes a post down."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        VoteReport(try await client.vote(on: id, .down))
    }
}
