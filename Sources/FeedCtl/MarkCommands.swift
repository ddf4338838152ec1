internal import ArgumentParser
internal import FeedClient
package import FeedProto

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
    var mark: WireArgument<Mark>

    @Argument(help: "The posts, at most 100.")
    var ids: [PostID] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("All posts that were created up to this one.", valueName: "id")
    )
    var through: PostID?

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
        ids.isEmpty
            ? try await client.markAll(through: through, as: mark.value, in: feed)
            : try await client.markNamed(ids, as: mark.value, in: feed)
    }
}

struct ReadCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Shows a post and marks it as read."
    )

    @Argument(help: "The post.")
    var id: PostID

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        PostReport(try await client.read(id))
    }
}

struct DismissCommand: PersonCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Hides posts from the person's lists; --undo shows them again."
    )

    @Argument(help: "The posts, at most 100.")
    var ids: [PostID]

    @Flag(help: "Show them again.")
    var undo = false

    @OptionGroup var options: PersonOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.markNamed(ids, as: undo ? .restored : .dismissed, in: "")
    }
}

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
        try await client.markAll(through: nil, as: undo ? .restored : .dismissed, in: feed)
    }
}

extension FeedClient {
    func read(_ id: PostID) async throws -> Post {
        let post = try await getPost(id)
        try await mark([id], as: .read, in: post.feed)
        return post
    }

    fileprivate func markNamed(
        _ ids: [PostID],
        as mark: Mark,
        in feed: String
    ) async throws -> MarkReport {
        let unreadCount = try await self.mark(ids, as: mark, in: feed)
        let missing = try await getPosts(ids).missingIDs
        return MarkReport(feed: feed, unreadCount: unreadCount, of: ids, missing: missing)
    }

    /// Marks the posts of a feed up to one, or up to the newest.
    fileprivate func markAll(
        through id: PostID?,
        as mark: Mark,
        in feed: String
    ) async throws -> MarkReport {
        var last = id
        if last == nil {
            let list = PostList(feed: feed, order: .new, includesDismissed: true)
            last = try await listPosts(list, pageSize: 1).posts.first?.id
        }
        guard let last else { return MarkReport(feed: feed, unreadCount: 0) }
        return MarkReport(
            feed: feed,
            unreadCount: try await self.mark(through: last, as: mark, in: feed)
        )
    }
}

package struct MarkReport: Report {
    private let feed: String
    /// How many posts of the feed the caller has neither read nor dismissed.
    private let unreadCount: UInt64
    /// How many of the posts that were named exist, and so were marked; nil if none was named.
    private let markedCount: Int?
    /// The posts that do not exist; nil if none was named.
    private let missingIDs: [PostID]?

    /// The report of marks; of posts that were named, those that do not exist got none.
    package init(
        feed: String,
        unreadCount: UInt64,
        of ids: [PostID]? = nil,
        missing: [PostID] = []
    ) {
        self.feed = feed
        self.unreadCount = unreadCount
        missingIDs = ids.map { _ in missing.sorted() }
        markedCount = ids.map { Set($0).subtracting(missing).count }
    }

    package var document: Document {
        [
            "feed": feed, "unread_count": unreadCount, "marked_count": markedCount,
            "missing_ids": missingIDs,
        ]
    }

    /// Not if posts were named, and none of them exists.
    package var isDone: Bool { markedCount != 0 }

    package func text(_ style: TextStyle) -> String {
        var line = ""
        if let markedCount { line += "Marked: \(markedCount)." }
        if let missingIDs, !missingIDs.isEmpty {
            let ids = missingIDs.map(String.init).joined(separator: ", ")
            line += " No such post: \(ids)."
        }
        return (line.isEmpty ? "" : line + "\n") + "Unread: \(unreadCount).\n"
    }
}
