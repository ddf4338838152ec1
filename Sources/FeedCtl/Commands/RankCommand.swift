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

    @Option(help: "The order; without it, the feed's own.")
    var order: OrderArgument?

    @Option(help: "Among posts of the last hour, day …; for top, controversial and discussed.")
    var window: WindowArgument?

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let place = try await client.rank(
            of: id,
            order: order?.order ?? .unspecified,
            window: window?.window ?? .unspecified
        )
        return RankReport(postID: id, place)
    }
}
