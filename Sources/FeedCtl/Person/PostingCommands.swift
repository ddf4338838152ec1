internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedProto

/// Posts a title, with a link or a text.
struct PostCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "post",
        abstract: "Posts a title, with a text or a link, as the person who has signed in."
    )

    @Argument(help: "The title.")
    var title: String

    @Option(help: "Where.")
    var feed = "posts"

    @Option(help: "The text.")
    var text = ""

    @Option(help: ArgumentHelp("Where the post leads.", valueName: "url"))
    var link = ""

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.createPost(post, in: feed))
    }

    func add(to offline: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        try await offline.createPost(post, in: feed)
    }

    private var post: Post { Post(title: title, text: text, linkURL: link) }
}

/// Posts a text without a title.
struct TweetCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweet",
        abstract: "Posts a text of 1 to 140 characters in the feed of tweets."
    )

    @Argument(help: "The text.")
    var text: String

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.createPost(Post(text: text), in: "tweets"))
    }

    func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        try await feed.createPost(Post(text: text), in: "tweets")
    }
}

/// Deletes a post of one's own.
struct RemoveCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Deletes a post of one's own."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.deletePost(id)
        return DeletionReport(deletedID: id)
    }

    func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        try await feed.deletePost(id)
    }
}
