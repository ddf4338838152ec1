internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Posts a title, with a link or a text.
struct PostCommand: PersonCommand {
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

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let post = Post(title: title, text: text, linkURL: link)
        return PostReport(try await client.createPost(post, in: feed))
    }
}

/// Posts a text without a title.
struct TweetCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweet",
        abstract: "Posts a text of 1 to 140 characters in the feed of tweets."
    )

    @Argument(help: "The text.")
    var text: String

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.createPost(Post(text: text), in: "tweets"))
    }
}
