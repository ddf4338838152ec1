internal import FeedClient
internal import Foundation

/// A screen of its own on the terminal, which shows a live list in place.
actor LiveScreen {
    private let title: String
    private var posts: WatchedPosts?

    /// A screen for a list; it shows nothing before the first posts.
    init(title: String) {
        self.title = title
    }

    /// Shows the posts.
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
