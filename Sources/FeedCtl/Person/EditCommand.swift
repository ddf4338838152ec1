internal import ArgumentParser
internal import FeedClient
internal import FeedOffline
internal import FeedProto

/// Changes a post of one's own.
struct EditCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes the title, the text or the link of a post of one's own."
    )

    @Argument(help: "The post.")
    var id: UInt64

    @Option(help: "The new title.")
    var title: String?

    @Option(help: "The new text.")
    var text: String?

    @Option(help: ArgumentHelp("Where the post leads from now on.", valueName: "url"))
    var link: String?

    @Option(
        parsing: .unconditional,
        help: "Change it only if nobody has edited it since this revision."
    )
    var revision: UInt64 = 0

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    func validate() throws {
        guard !fields.isEmpty else {
            throw ValidationError("Name what changes: --title, --text or --link.")
        }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.updatePost(post, fields: fields))
    }

    func add(to feed: OfflineFeed) async throws(OfflineError) -> OutboxEntry {
        try await feed.updatePost(post, fields: fields)
    }

    private var post: Post {
        Post(
            id: id,
            title: title ?? "",
            text: text ?? "",
            linkURL: link ?? "",
            revision: revision
        )
    }

    private var fields: [PostField] {
        var fields: [PostField] = []
        if title != nil { fields.append(.title) }
        if text != nil { fields.append(.text) }
        if link != nil { fields.append(.linkURL) }
        return fields
    }
}
