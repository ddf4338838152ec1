internal import ArgumentParser
package import FeedClient
internal import FeedProto
internal import FeedText
internal import Foundation

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows how the first posts of a feed change: r sorts them anew, q is the end.",
        discussion: """
            The numbers change in place, and no row moves by itself. Where standard input or output is no \
            terminal, each change is a line.
            """
    )

    @OptionGroup var shown: ShownListOptions

    @Option(help: ArgumentHelp("The least time between two changes.", valueName: "milliseconds"))
    var interval = 250

    @Option(help: ArgumentHelp("End after so many changes; for lines only.", valueName: "count"))
    var events: Int?

    @OptionGroup var options: PersonOptions

    func validate() throws {
        guard (50...60_000).contains(interval) else {
            throw ValidationError("--interval: expected 50 to 60000, got \(interval).")
        }
        if let events, events < 1 {
            throw ValidationError("--events: expected 1 or more, got \(events).")
        }
    }

    func run() async throws {
        try await options.withClient { client in
            let watch = client.watch(subject, interval: .milliseconds(interval))
            if isInteractive { try await show(watch) } else { try await printChanges(watch) }
        }
    }

    private var isInteractive: Bool {
        !options.json && events == nil && Terminal.isInput && Terminal.isOutput
    }

    private var subject: PostWatch {
        PostWatch(
            .top(shown.rows),
            in: shown.feed,
            order: shown.ordering.requestedOrder,
            window: shown.ordering.requestedWindow
        )
    }

    /// A line for each change, until there are enough, or nobody reads them any more.
    private func printChanges(_ watch: WatchSequence) async throws {
        var before: WatchedPosts?
        var left = events ?? .max
        for try await posts in watch {
            guard let report = WatchReport(posts, after: before) else { continue }
            let line = options.json ? try report.jsonLine() : report.text(.current)
            guard try Console.writeWhileRead(line) else { return }
            before = posts
            left -= 1
            if left == 0 { return }
        }
    }

    /// A live list, until a key or a signal ends it.
    private func show(_ watch: WatchSequence) async throws {
        let name = shown.feed.isEmpty ? "all feeds" : VisibleText.line(shown.feed)
        let screen = LiveScreen(title: "\(name)   r refresh, q quit")
        try await Keys.run { keys in
            try await LiveScreen.run {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { for try await posts in watch { try await screen.show(posts) } }
                    group.addTask { try await follow(keys, watch, screen) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        }
    }

    private func follow(
        _ keys: AsyncStream<Key>,
        _ watch: WatchSequence,
        _ screen: LiveScreen
    ) async throws {
        for await key in keys {
            switch key {
            case .character("r"), .character("R"): watch.refresh()
            case .redraw: try await screen.redraw()
            case .character("q"), .character("Q"), .quit: return
            case .character: continue
            }
        }
    }
}

/// A screen of its own on the terminal, which shows a live list in place.
private actor LiveScreen {
    private let title: String
    private var posts: WatchedPosts?

    /// A screen for a list; it shows nothing before the first posts.
    init(title: String) { self.title = title }

    func show(_ posts: WatchedPosts) throws(ConsoleError) {
        self.posts = posts
        try redraw()
    }

    /// Shows the same posts again, as after a change of the terminal's size.
    func redraw() throws(ConsoleError) {
        guard let posts else { return }
        let page = LivePage(posts, title: title)
        // Each line is written over the one before, so that nothing flickers.
        let lines = page.lines(.current, rowCount: Terminal.rowCount)
        let text = lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n")
        try Console.write("\u{1B}[H\(text)\u{1B}[J")
    }

    /// Runs the body with a screen of its own, and brings the former screen back.
    static func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        try Console.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[H\u{1B}[J")
        defer { try? Console.write("\u{1B}[?25h\u{1B}[?1049l") }
        return try await body()
    }
}

/// A live list as a screen shows it: rows that stay, and a line that says what a refresh would bring.
package struct LivePage {
    private let posts: WatchedPosts
    private let title: String

    package init(_ posts: WatchedPosts, title: String) {
        self.posts = posts
        self.title = title
    }

    /// The lines, no more than the terminal has rows; nil is no limit.
    ///
    /// The last two say what is new and which keys there are; rows that have no place are left out.
    package func lines(_ style: TextStyle, rowCount: Int?) -> [String] {
        let removed = Set(posts.removedIDs)
        let columns: [TextColumn<Post>] = [
            .number("SCORE") { "\($0.score)" }, .number("UP") { "\($0.upvoteCount)" },
            .number("DOWN") { "\($0.downvoteCount)" }, .number("ID") { "\($0.id)" },
            .text("TITLE") { (removed.contains($0.id) ? "(gone) " : "") + $0.name },
        ]
        let table = TextTable(posts.rows, columns)
        let rows = table.rendered(style).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
        let room = rowCount.map { max(1, $0 - 3) } ?? rows.count
        let end = [title, news].map { $0.truncated(toColumns: style.columnCount ?? .max) }
        return rows.prefix(room) + [
            "", style.isBold ? "\u{1B}[1m\(end[1])\u{1B}[0m" : end[1], end[0],
        ]
    }

    private var news: String {
        var news: [String] = []
        if posts.newPostCount == 1 { news.append("1 new post") }
        if posts.newPostCount > 1 { news.append("\(posts.newPostCount) new posts") }
        if posts.hasNewOrder { news.append("the order has changed") }
        guard let first = news.first?.first else { return "In order." }
        let sentence = news.joined(separator: ", ")
        return "\(first.uppercased())\(sentence.dropFirst()): r shows it."
    }
}

/// What has changed in a watched list since the report before.
package struct WatchReport: Report {
    private let revision: UInt64
    /// The posts that have changed, or have come into the list.
    private let changed: [Post]
    /// The ids of the list in order, if they have changed; else empty.
    private let ranking: [PostID]
    private let removedIDs: [PostID]
    private let newPostCount: UInt64

    /// The report of two elements of a watch; `before` is nil for the first report, which has all posts.
    ///
    /// The result is nil if nothing has changed, as in the first element after a lost connection.
    package init?(_ posts: WatchedPosts, after before: WatchedPosts?) {
        var now = posts
        now.refresh()
        var earlier = before
        earlier?.refresh()
        var revisions: [PostID: UInt64] = [:]
        for post in earlier?.rows ?? [] { revisions[post.id] = post.revision }
        revision = posts.revision
        changed = now.rows.filter { revisions[$0.id] != $0.revision }
        ranking = earlier?.ranking == now.ranking ? [] : now.ranking
        let current = Set(now.ranking)
        removedIDs = (earlier?.ranking ?? []).filter { !current.contains($0) }
        // Counts of the wire may also go down.
        let count = posts.allNewPostCount
        newPostCount = count - min(before?.allNewPostCount ?? count, count)
        if before != nil, changed.isEmpty, ranking.isEmpty, removedIDs.isEmpty, newPostCount == 0 {
            return nil
        }
    }

    package var document: Document {
        [
            "revision": revision, "changed": changed.map { PostReport($0).document },
            "ranking": ranking, "removed_ids": removedIDs, "new_post_count": newPostCount,
        ]
    }

    /// One line: the scores that have changed, then the order; else that the list is empty.
    package func text(_ style: TextStyle) -> String {
        var parts = changed.map { "post \($0.id) has \($0.score)" }
        if !removedIDs.isEmpty { parts.append("gone: \(Self.list(removedIDs))") }
        if newPostCount > 0 { parts.append("new posts: \(newPostCount)") }
        if !ranking.isEmpty { parts.append("order: \(Self.list(ranking))") }
        return "\(revision): \(parts.isEmpty ? "no posts" : parts.joined(separator: "; "))\n"
    }

    private static func list(_ ids: [PostID]) -> String {
        ids.map(String.init).joined(separator: " ")
    }
}
