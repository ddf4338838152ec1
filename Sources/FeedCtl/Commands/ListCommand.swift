internal import ArgumentParser
internal import FeedClient
internal import FeedProto
internal import Foundation

/// Lists posts in order.
struct ListCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the posts of a feed, or of all feeds."
    )

    @Option(help: "The feed; without it, the front page over all feeds.")
    var feed = ""

    @OptionGroup var ordering: OrderOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Only posts of this author's account.", valueName: "user")
    )
    var author: UInt64 = 0

    @Flag(help: "Only posts that the caller has not read.")
    var unread = false

    @Flag(help: "Also posts that the caller has dismissed.")
    var dismissed = false

    @Flag(
        help: """
            Pages of one snapshot of the first 1,000 posts: none twice, and none missed. Pages behind \
            them are live.
            """
    )
    var stable = false

    @Option(parsing: .unconditional, help: "How many posts, 1 to 10000.")
    var limit = 20

    // A token may begin with a hyphen.
    @Option(
        parsing: .unconditional,
        help: "The token of the page to start with, as an earlier list printed it."
    )
    var pageToken: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Start with the page that holds this post.", valueName: "id")
    )
    var around: UInt64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Start at this rank; 1 is the first post.", valueName: "rank")
    )
    var fromRank: UInt64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Only posts created since this one, newest first; in the order old, oldest first.",
            valueName: "id"
        )
    )
    var newerThan: UInt64?

    @OptionGroup var options: ServiceOptions

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("--limit: expected 1 to 10000, got \(limit).")
        }
        let starts = [pageToken != nil, around != nil, fromRank != nil, newerThan != nil]
        guard starts.count(where: { $0 }) <= 1 else {
            throw ValidationError(
                "--page-token, --around, --from-rank and --newer-than exclude one another."
            )
        }
        if let pageToken, PageToken(text: pageToken) == nil {
            throw ValidationError("--page-token: this is no token that a list gave out.")
        }
        if fromRank == 0 { throw ValidationError("--from-rank: expected 1 or more, got 0.") }
    }

    func perform(_ client: FeedClient) async throws -> any Report {
        var pages: [Page] = []
        var missing = limit
        var start: PageStart? = firstStart
        // A page may be empty, but not one after another without end.
        while missing > 0, pages.count < limit, let from = start {
            let page = try await client.listPosts(
                list,
                pageSize: min(missing, Self.pageSize),
                from: from
            )
            pages.append(page)
            missing -= page.posts.count
            start = page.next.map(PageStart.token)
        }
        return PageReport(
            pages,
            of: list,
            hasViewer: options.hasViewer,
            commandLine: ListCommandLine(ProcessInfo.processInfo.arguments)
        )
    }

    private var list: PostList {
        PostList(
            feed: feed,
            order: ordering.requestedOrder,
            window: ordering.requestedWindow,
            authorID: author,
            unreadOnly: unread,
            includesDismissed: dismissed,
            consistency: stable ? .stable : .unspecified
        )
    }

    /// The page size that every service gives by default.
    private static let pageSize = 100

    private var firstStart: PageStart {
        if let token = pageToken.flatMap(PageToken.init(text:)) { return .token(token) }
        if let around { return .around(around) }
        if let newerThan { return .newerThan(newerThan) }
        return fromRank.map(PageStart.rank) ?? .first
    }
}
