internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Creates a feed with its policy.
struct CreateFeedCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-feed",
        abstract: "Creates a feed and shows it; its policy never changes.",
        discussion: """
            Where anyone votes, every vote counts. Where users or devices do, each has one ballot on a \
            post, which it may change. Devices are callers with a --client-id; users vote there, too.
            """
    )

    @Argument(help: "Its name: a small letter, then small letters, digits and hyphens.")
    var name: String

    @Option(help: "Whose votes count.")
    var voters = VotersArgument.anyone

    @Option(help: "The order of lists that name none.")
    var order = OrderArgument.top

    @Option(help: "The most characters of a title, up to 1,000.")
    var maxTitle: UInt32 = 255

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let feed = Feed(
            name: name,
            defaultOrder: order.order,
            voteMode: voters.voteMode,
            maximumTitleLength: maxTitle,
            voters: voters.voters
        )
        return FeedsReport([try await client.createFeed(feed)])
    }
}
