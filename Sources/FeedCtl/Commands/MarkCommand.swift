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

    @Flag(help: "All posts that there are.")
    var all = false

    @Option(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        guard [!ids.isEmpty, through != nil, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Name posts, or --through, or --all; one of the three.")
        }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        if ids.isEmpty {
            guard let last = try await lastPost(client) else {
                return MarkReport(feed: feed, unreadCount: 0)
            }
            let unreadCount = try await client.mark(through: last, as: mark.mark, in: feed)
            return MarkReport(feed: feed, unreadCount: unreadCount)
        }
        let unreadCount = try await client.mark(ids, as: mark.mark, in: feed)
        let missing = try await client.getPosts(ids).missingIDs
        return MarkReport(feed: feed, unreadCount: unreadCount, of: ids, missing: missing)
    }

    /// The last post to be marked: the one that was named, or else the newest; nil of a feed without
    /// posts.
    private func lastPost(_ client: FeedClient) async throws -> UInt64? {
        if let through { return through }
        let list = PostList(feed: feed, order: .new, includesDismissed: true)
        return try await client.listPosts(list, pageSize: 1).posts.first?.id
    }
}
