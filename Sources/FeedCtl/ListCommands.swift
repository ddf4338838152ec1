internal import ArgumentParser
package import FeedClient
package import FeedProto
internal import FeedText
internal import Foundation

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
    var author: UserID = 0

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
    var around: PostID?

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
    var newerThan: PostID?

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

struct RankCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rank",
        abstract: "Shows the place of a post in its feed."
    )

    @Argument(help: "The post.")
    var id: PostID

    @OptionGroup var ordering: OrderOptions

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let place = try await client.rank(
            of: id,
            order: ordering.requestedOrder,
            window: ordering.requestedWindow
        )
        return Sentence.rank(of: id, place)
    }
}

package struct PageReport: Report {
    private let posts: [Post]
    /// The first page and the last one, whose tokens lead to the pages around them.
    private let first: Page
    private let last: Page
    /// The rank of each post; nil if posts between them may be left out.
    private let ranks: [UInt64]?
    /// Where a list that was to be STABLE goes on as LIVE: the rank of a post; nil if it does not.
    private let firstLiveRank: UInt64?
    /// The command to continue with; nil if the program itself continues.
    private let commandLine: ListCommandLine?
    /// The number of the first row, by which a person names posts; nil if nobody can.
    private let firstRow: Int?

    /// The report of consecutive pages.
    ///
    /// A viewer may have dismissed posts. Without a command line nothing is printed to continue with, and
    /// without a number of the first row no row has one.
    package init(
        _ pages: [Page],
        of list: PostList = PostList(),
        hasViewer: Bool = false,
        commandLine: ListCommandLine? = ListCommandLine(),
        firstRow: Int? = nil
    ) {
        self.commandLine = commandLine
        self.firstRow = firstRow
        posts = pages.flatMap(\.posts)
        first = pages.first ?? Page(posts: [])
        last = pages.last ?? Page(posts: [])
        // Posts that are newer than a place come without ranks.
        let isRanked = pages.allSatisfy { $0.firstRank > 0 }
        let isStable = list.consistency == .stable || pages.contains { $0.consistency == .stable }
        firstLiveRank =
            isStable
            ? pages.first { $0.consistency == .live && !$0.posts.isEmpty }?.firstRank : nil
        let hasAllPosts =
            list.authorID == 0 && !list.unreadOnly && (list.includesDismissed || !hasViewer)
        ranks = isRanked && hasAllPosts ? pages.flatMap(\.ranks) : nil
    }

    /// A token is for `--page-token`; it is empty if there is no page to start with it.
    package var document: Document {
        [
            "posts": posts.map { PostReport($0).document },
            // 1 is the best.
            "first_rank": first.firstRank, "total_size": last.totalSize,
            "next_page_token": last.next?.text ?? "",
            "previous_page_token": first.previous?.text ?? "",
            // The posts that become newer than the first one.
            "refresh_token": first.refresh?.text ?? "", "newer_count": first.newerCount,
            // Pages behind the end of a snapshot are LIVE, and so is the list.
            "consistency": last.consistency.argument,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        let hasFeeds = Set(posts.map(\.feed)).count > 1
        let hasAuthors = posts.contains { $0.author?.displayName.isEmpty == false }
        var columns: [TextColumn<(offset: Int, post: Post)>] = []
        if let firstRow { columns.append(.number("ROW") { "\(firstRow + $0.offset)" }) }
        if let ranks { columns.append(.number("RANK") { "\(ranks[$0.offset])" }) }
        let now = style.nowMilliseconds
        columns += [
            .number("SCORE") { "\($0.post.score)" },
            .number("COMMENTS") { "\($0.post.commentCount)" },
            .text("AGE") { RelativeTime.text($0.post.createTimeMilliseconds, now: now) },
        ]
        if hasFeeds { columns.append(.text("FEED") { $0.post.feed }) }
        if hasAuthors { columns.append(.text("AUTHOR") { Self.shortAuthor(of: $0.post) }) }
        columns += [.number("ID") { "\($0.post.id)" }, .text("TITLE") { $0.post.name }]
        let rows = posts.enumerated().map { (offset: $0.offset, post: $0.element) }
        return TextTable(rows, columns).rendered(style) + footer
    }

    private static func shortAuthor(of post: Post) -> String {
        VisibleText.line(post.author?.displayName ?? "").truncated(toColumns: authorColumns)
    }

    /// A longer name would leave no room for titles.
    private static let authorColumns = 20

    private var footer: String {
        var shown = "\(posts.count)"
        if let firstRow, !posts.isEmpty { shown = "\(firstRow)–\(firstRow + posts.count - 1)" }
        var lines = "\n\(shown) of \(last.totalSize) posts.\n"
        if let firstLiveRank, firstLiveRank > 0 {
            lines += "From rank \(firstLiveRank) on: live.\n"
        }
        lines += continuation("Before:", first.previous)
        lines += continuation("After: ", last.next)
        if first.newerCount > 0 {
            lines += continuation("Newer: ", first.refresh) + "\(first.newerCount) newer posts.\n"
        }
        return lines
    }

    /// The line with the command that continues at a token; empty without one.
    private func continuation(_ label: String, _ token: PageToken?) -> String {
        guard let token, let commandLine else { return "" }
        return "\(label) \(commandLine.starting(at: token.text))\n"
    }
}

extension Post {
    /// What a person knows it by: a tweet has a text only.
    var name: String { title.isEmpty ? text : title }
}

extension Page {
    /// The ranks of the posts, if none between them is left out.
    fileprivate var ranks: [UInt64] {
        // The service may give any first rank: the sum must not overflow.
        posts.indices.map { firstRank &+ UInt64($0) }
    }
}

extension Sentence {
    package static func rank(of id: PostID, _ place: PostRank) -> Sentence {
        Sentence(
            "Post \(id): rank \(place.rank) of \(place.totalSize).",
            ["post_id": id, "rank": place.rank, "total_size": place.totalSize]
        )
    }
}

/// The words of a `list` as it was typed, to be typed again with another start.
package struct ListCommandLine: Sendable, Equatable {
    /// The options that say where a list starts; each has one value.
    private static let starts = ["--page-token", "--around", "--from-rank", "--newer-than"]

    private let words: [String]

    /// The command line without its start; `words` begins with the program's.
    package init(_ words: [String] = []) {
        var kept: [String] = []
        var isValueOfStart = false
        for word in words {
            let isStart = !isValueOfStart && Self.starts.contains(word)
            let hasValue = Self.starts.contains { word.hasPrefix("\($0)=") }
            if !isStart, !isValueOfStart, !hasValue { kept.append(word) }
            isValueOfStart = isStart
        }
        self.words = kept
    }

    /// The command that continues at a token, for a shell.
    fileprivate func starting(at token: String) -> String {
        (words + ["--page-token", token]).map(Self.quoted).joined(separator: " ")
    }

    /// A word as a shell reads it, in quotes if a character may have a meaning to the shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "-_./:=,@%+".utf8.contains(byte)
            }
        }
        guard !isPlain || word.isEmpty else { return word }
        return "'\(word.replacing("'", with: "'\\''"))'"
    }
}

// Base64 with the alphabet of RFC 4648, section 5: none of it has a meaning to a shell.
extension PageToken {
    package var text: String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    package init?(text: String) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let base64 = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        guard let data = Data(base64Encoded: base64 + padding) else { return nil }
        self.init(bytes: Array(data))
    }
}
