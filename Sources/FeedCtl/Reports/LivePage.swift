package import FeedClient
internal import FeedProto

/// A live list as a screen shows it: rows that stay, and a line that says what a refresh would bring.
package struct LivePage {
    private let posts: WatchedPosts
    private let title: String

    /// The page of a watch.
    package init(_ posts: WatchedPosts, title: String) {
        self.posts = posts
        self.title = title
    }

    /// The lines, no more than the terminal has rows; nil is no limit.
    ///
    /// The last two say what is new and which keys there are; rows that have no place are left out.
    package func lines(_ style: TextStyle, rowCount: Int?) -> [String] {
        var table = TextTable([
            .number("SCORE"), .number("UP"), .number("DOWN"), .number("ID"), .text("TITLE"),
        ])
        let removed = Set(posts.removedIDs)
        for post in posts.rows {
            let title = post.title.isEmpty ? post.text : post.title
            table.append([
                "\(post.score)", "\(post.upvoteCount)", "\(post.downvoteCount)", "\(post.id)",
                removed.contains(post.id) ? "(gone) \(title)" : title,
            ])
        }
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
