internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Shows a post's place.
struct RankCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rank",
        abstract: "Shows the place of a post in its feed."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var ordering: OrderOptions

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let place = try await client.rank(
            of: id,
            order: ordering.requestedOrder,
            window: ordering.requestedWindow
        )
        return RankReport(postID: id, place)
    }
}
