internal import ArgumentParser
internal import FeedClient

/// Votes on a post.
struct VoteCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "vote",
        abstract: "Votes on a post and shows its counts."
    )

    static let identityFlags = "--acting-user, or --client-id where devices have ballots"

    @Argument(help: "The post.")
    var id: UInt64

    @Argument(help: "What the vote says: up, down, or clear where votes are ballots.")
    var direction: VoteArgument

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        VoteReport(try await client.vote(on: id, direction.direction))
    }
}
