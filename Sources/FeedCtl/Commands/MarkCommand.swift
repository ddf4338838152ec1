internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Notes what the caller has read or dismissed.
struct MarkCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark",
        abstract: "Marks posts as read, unread, dismissed or restored.",
        discussion: """
            Marks belong to the caller: --client-id, or --acting-user. The answer is how many posts \
            of the feed the caller has neither read nor dismissed.
            """
    )

    @Argument(help: "The mark: read, unread, dismissed or restored.")
    var mark: MarkArgument

    @Argument(help: "The posts, at most 100.")
    var ids: [UInt64] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("All posts that were created up to this one.", valueName: "id")
    )
    var through: UInt64?

    @Option(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        guard ids.isEmpty == (through != nil) else {
            throw ValidationError("Name posts, or --through; one of the two.")
        }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        if let through {
            let unreadCount = try await client.mark(through: through, as: mark.mark, in: feed)
            return MarkReport(feed: feed, unreadCount: unreadCount)
        }
        let unreadCount = try await client.mark(ids, as: mark.mark, in: feed)
        let missing = try await client.getPosts(ids).missingIDs
        return MarkReport(feed: feed, unreadCount: unreadCount, of: ids, missing: missing)
    }
}
