internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText

struct GetCommand: ServiceCommand {
    static let configuration = CommandConfiguration(commandName: "get", abstract: "Shows a post.")

    @Argument(help: "The post.")
    var id: PostID

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.getPost(id))
    }
}

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
        let draft = PostDraft(
            title: title,
            text: text,
            linkURL: link,
            thumbnailURL: thumbnail,
            imageURL: image
        )
        return PostReport(try await client.createPost(draft, in: feed, authorName: author))
    }
}

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

    var change: PersonChange {
        .create(PostDraft(title: title, text: text, linkURL: link), feed: feed)
    }
}

struct TweetCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tweet",
        abstract: "Posts a text of 1 to 140 characters in the feed of tweets."
    )

    @Argument(help: "The text.")
    var text: String

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    var change: PersonChange { .create(PostDraft(text: text), feed: "tweets") }
}

struct EditCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Changes the title, the text or the link of a post of one's own."
    )

    @Argument(help: "The post.")
    var id: PostID

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

    var change: PersonChange {
        let post = Post(
            id: id,
            title: title ?? "",
            text: text ?? "",
            linkURL: link ?? "",
            revision: revision
        )
        return .update(post, fields)
    }

    private var fields: [PostField] {
        var fields: [PostField] = []
        if title != nil { fields.append(.title) }
        if text != nil { fields.append(.text) }
        if link != nil { fields.append(.linkURL) }
        return fields
    }
}

struct DeleteCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a post; again is no error."
    )

    static let identityFlags = "--acting-user, or feedctl remove for a post of your own"

    @Argument(help: "The post.")
    var id: PostID

    @Option(
        parsing: .unconditional,
        help: "Delete it only if nobody has edited it since this revision."
    )
    var revision: UInt64 = 0

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.deletePost(id, revision: revision)
        return Sentence.deletion(of: id)
    }
}

struct RemoveCommand: QueueableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Deletes a post of one's own."
    )

    @Argument(help: "The post.")
    var id: PostID

    @OptionGroup var queueing: QueueOptions

    @OptionGroup var options: PersonOptions

    var change: PersonChange { .delete(id) }
}

/// One post: the report of the commands that show, create or change one, and a part of lists.
package struct PostReport: Report {
    private let post: Post

    package init(_ post: Post) { self.post = post }

    package var document: Document {
        let viewer = post.viewer ?? Viewer()
        return [
            "id": post.id, "feed": post.feed, "author": post.author?.displayName ?? "",
            "author_id": post.author?.id ?? 0, "title": post.title, "text": post.text,
            "link_url": post.linkURL, "thumbnail_url": post.thumbnailURL,
            "image_url": post.imageURL, "score": post.score, "upvote_count": post.upvoteCount,
            "downvote_count": post.downvoteCount, "comment_count": post.commentCount,
            "create_time_ms": post.createTimeMilliseconds,
            "update_time_ms": post.updateTimeMilliseconds, "revision": post.revision,
            "vote": viewer.vote.argument, "is_read": viewer.isRead,
            "is_dismissed": viewer.isDismissed,
        ]
    }

    /// A line a field, then the text of the post with its own lines, indented.
    package func text(_ style: TextStyle) -> String {
        let author = post.author ?? User(displayName: "")
        let votes = "\(post.upvoteCount) up, \(post.downvoteCount) down"
        let marks = [
            post.viewer?.isRead == true ? "read" : nil,
            post.viewer?.isDismissed == true ? "dismissed" : nil,
        ]
        var fields = FieldList()
        fields.add("id", "\(post.id)")
        fields.add("feed", post.feed)
        fields.add("title", post.title)
        fields.add("author", author.displayName + (author.id == 0 ? "" : " (user \(author.id))"))
        fields.add("link", post.linkURL)
        fields.add("thumbnail", post.thumbnailURL)
        fields.add("image", post.imageURL)
        fields.add("score", "\(post.score) (\(votes))")
        fields.add("your vote", post.viewer?.vote.argument ?? "")
        fields.add("your marks", marks.compactMap(\.self).joined(separator: ", "))
        fields.add("comments", "\(post.commentCount)")
        fields.add("created", style.time(post.createTimeMilliseconds))
        if post.updateTimeMilliseconds != post.createTimeMilliseconds {
            fields.add("edited", style.time(post.updateTimeMilliseconds))
        }
        fields.add("revision", "\(post.revision)")
        guard !post.text.isEmpty else { return fields.rendered() }
        let lines = VisibleText.lines(post.text).map { $0.isEmpty ? "\n" : "    \($0)\n" }
        return fields.rendered() + "\n" + lines.joined()
    }
}

extension Sentence {
    package static func deletion(of id: PostID) -> Sentence {
        Sentence("Post \(id) is deleted.", ["deleted_id": id])
    }
}
