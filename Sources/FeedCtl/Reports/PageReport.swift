package import FeedClient
internal import FeedProto
internal import FeedText

/// Posts of a list in order, as `list` reports them.
package struct PageReport: Report, Equatable {
    let posts: [PostReport]
    /// The rank of the first post; 1 is the best.
    let firstRank: UInt64
    let totalSize: UInt64
    /// For `--page-token`; empty at the end of the list.
    let nextPageToken: String
    /// For `--page-token`; empty at the start of the list.
    let previousPageToken: String
    /// For `--page-token`: the posts that become newer than the first one; empty where there are none.
    let refreshToken: String
    /// How many posts are newer than the place that the list was asked for.
    let newerCount: UInt32
    /// What the last page was served as: `stable`, `live` or empty.
    let consistency: String
    /// The rank of each post; nil where posts between them may be left out.
    private let ranks: [UInt64]?
    /// Where a list that was to be STABLE goes on as LIVE: the rank of a post; nil where it does not.
    private let firstLiveRank: UInt64?
    /// The command to continue with; nil where the program itself continues.
    private let commandLine: ListCommandLine?
    /// The number of the first row, by which a person names posts; nil where nobody can.
    private let firstRow: Int?

    private enum CodingKeys: String, CodingKey {
        case posts, firstRank, totalSize, nextPageToken, previousPageToken, refreshToken
        case newerCount, consistency
    }

    /// The report of consecutive pages, of which there is at least one.
    ///
    /// - Parameters:
    ///   - pages: The pages.
    ///   - list: The list that they are of.
    ///   - hasViewer: Whether the caller may have dismissed posts.
    ///   - commandLine: The command that asked for them; nil prints none to continue with.
    ///   - firstRow: The number of the first row; nil numbers none.
    package init(
        _ pages: [Page],
        of list: PostList = PostList(),
        hasViewer: Bool = false,
        commandLine: ListCommandLine? = ListCommandLine(),
        firstRow: Int? = nil
    ) {
        self.commandLine = commandLine
        self.firstRow = firstRow
        posts = pages.flatMap(\.posts).map(PostReport.init)
        firstRank = pages.first?.firstRank ?? 0
        totalSize = pages.last?.totalSize ?? 0
        nextPageToken = pages.last?.next?.text ?? ""
        previousPageToken = pages.first?.previous?.text ?? ""
        refreshToken = pages.first?.refresh?.text ?? ""
        newerCount = pages.first?.newerCount ?? 0
        // Pages behind the end of a snapshot are LIVE, and so is the list.
        consistency = pages.last?.consistency.argument ?? ""
        // Posts that are newer than a place come without ranks.
        let isRanked = pages.allSatisfy { $0.firstRank > 0 }
        let isStable = list.consistency == .stable || pages.contains { $0.consistency == .stable }
        firstLiveRank =
            isStable
            ? pages.first { $0.consistency == .live && !$0.posts.isEmpty }?.firstRank : nil
        ranks =
            isRanked && list.hasAllPosts(hasViewer: hasViewer) ? pages.flatMap(\.ranks) : nil
    }

    /// A table of the posts, and the commands to continue with.
    package func text(_ style: TextStyle) -> String {
        let hasFeeds = Set(posts.map(\.feed)).count > 1
        let hasAuthors = posts.contains { !$0.author.isEmpty }
        var columns: [TextTable.Column] = firstRow == nil ? [] : [.number("ROW")]
        if ranks != nil { columns.append(.number("RANK")) }
        columns += [.number("SCORE"), .number("COMMENTS"), .text("AGE")]
        if hasFeeds { columns.append(.text("FEED")) }
        if hasAuthors { columns.append(.text("AUTHOR")) }
        var table = TextTable(columns + [.number("ID"), .text("TITLE")])
        for (index, post) in posts.enumerated() {
            var cells = firstRow.map { ["\($0 + index)"] } ?? []
            if let ranks { cells.append("\(ranks[index])") }
            cells += [
                "\(post.score)", "\(post.commentCount)",
                RelativeTime.text(post.createTimeMs, now: style.nowMilliseconds),
            ]
            if hasFeeds { cells.append(post.feed) }
            if hasAuthors { cells.append(author(post)) }
            // A tweet has a text only.
            let title = post.title.isEmpty ? post.body : post.title
            table.append(cells + ["\(post.id)", title])
        }
        return table.rendered(style) + footer
    }

    /// A longer name would leave no room for titles.
    private static let authorColumns = 20

    private func author(_ post: PostReport) -> String {
        VisibleText.line(post.author).truncated(toColumns: Self.authorColumns)
    }

    private var footer: String {
        var shown = "\(posts.count)"
        if let firstRow, !posts.isEmpty {
            shown = "\(firstRow)–\(firstRow + posts.count - 1)"
        }
        var lines = "\n\(shown) of \(totalSize) posts.\n"
        if let firstLiveRank, firstLiveRank > 0 {
            lines += "From rank \(firstLiveRank) on: live.\n"
        }
        lines += continuation("Before:", previousPageToken)
        lines += continuation("After: ", nextPageToken)
        if newerCount > 0 {
            lines += continuation("Newer: ", refreshToken) + "\(newerCount) newer posts.\n"
        }
        return lines
    }

    /// The line with the command that continues at a token; empty without one.
    private func continuation(_ label: String, _ token: String) -> String {
        guard !token.isEmpty, let commandLine else { return "" }
        return "\(label) \(commandLine.starting(at: token))\n"
    }
}

extension PostList {
    /// Whether the pages have each post of the ranks that they pass.
    fileprivate func hasAllPosts(hasViewer: Bool) -> Bool {
        authorID == 0 && !unreadOnly && (includesDismissed || !hasViewer)
    }
}

extension Page {
    /// The ranks of the posts, where none between them is left out.
    fileprivate var ranks: [UInt64] {
        // The service may give any first rank: the sum must not overflow.
        posts.indices.map { firstRank &+ UInt64($0) }
    }
}
