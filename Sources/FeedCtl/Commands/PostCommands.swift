internal import ArgumentParser
internal import FeedClient
internal import FeedProto

/// Shows one post.
struct GetCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Shows a post."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.getPost(id))
    }
}

/// Creates a post.
struct CreateCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates a post and shows it."
    )

    @Option(help: "Where.")
    var feed = "posts"

    @Option(help: "The title.")
    var title = ""

    @Option(help: "The text.")
    var text = ""

    @Option(help: "The author's name.")
    var author = ""

    @Option(help: ArgumentHelp("Where the post leads.", valueName: "url"))
    var link = ""

    @Option(help: ArgumentHelp("A small picture.", valueName: "url"))
    var thumbnail = ""

    @Option(help: ArgumentHelp("A full picture.", valueName: "url"))
    var image = ""

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        guard !title.isEmpty || !text.isEmpty else {
            throw ValidationError("A post needs a --title or a --text.")
        }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        let post = Post(
            author: author.isEmpty ? nil : User(displayName: author),
            title: title,
            text: text,
            linkURL: link,
            thumbnailURL: thumbnail,
            imageURL: image
        )
        return PostReport(try await client.createPost(post, in: feed))
    }
}

/// Deletes a post.
struct DeleteCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a post; again is no error."
    )

    static let identityFlags = "--acting-user, or feedctl remove for a post of your own"

    @Argument(help: "The post.")
    var id: UInt64

    @Option(
        parsing: .unconditional,
        help: "Delete it only if nobody has edited it since this revision."
    )
    var revision: UInt64 = 0

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.deletePost(id, revision: revision)
        return DeletionReport(deletedID: id)
    }
}
