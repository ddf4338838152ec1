internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Notes that posts are read.
struct ReadCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Shows a post and marks it as read."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let post = try await client.getPost(id)
        try await client.mark([id], as: .read, in: post.feed)
        return PostReport(post)
    }
}

/// Hides posts.
struct DismissCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Hides posts from the person's lists; --undo shows them again."
    )

    @Argument(help: "The posts, at most 100.")
    var ids: [UInt64]

    @Flag(help: "Show them again.")
    var undo = false

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let unreadCount = try await client.mark(ids, as: undo ? .restored : .dismissed)
        let missing = try await client.getPosts(ids).missingIDs
        return MarkReport(feed: "", unreadCount: unreadCount, of: ids, missing: missing)
    }
}

/// Hides all posts of a feed that there are.
struct DismissAllCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss-all",
        abstract: "Hides all posts of a feed that there are; --undo shows them again."
    )

    @Option(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @Flag(help: "Show them again.")
    var undo = false

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let list = PostList(feed: feed, order: .new, includesDismissed: true)
        guard let newest = try await client.listPosts(list, pageSize: 1).posts.first else {
            return MarkReport(feed: feed, unreadCount: 0)
        }
        let mark: Mark = undo ? .restored : .dismissed
        let unreadCount = try await client.mark(through: newest.id, as: mark, in: feed)
        return MarkReport(feed: feed, unreadCount: unreadCount)
    }
}
