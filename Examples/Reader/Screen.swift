import FeedClient
import FeedOffline
import FeedProto
import Foundation

/// The rows that a person sees, and their place in the list.
struct Screen {
    private static let rowCount = 10

    /// The place in the list as it is kept between launches.
    private struct Place: Codable {
        var order = Order.hot.rawValue
        /// The page begins after this place; nil is the first page.
        var start: OfflinePlace?
        /// Where the pages before began.
        var earlier: [OfflinePlace?] = []
    }

    private var place = Place()
    private var page: OfflinePage?

    /// The screen at the place of the last launch, or at the first page.
    init(savedAt file: URL) {
        guard let data = try? Data(contentsOf: file),
            let saved = try? JSONDecoder().decode(Place.self, from: data)
        else { return }
        place = saved
    }

    func save(to file: URL) {
        try? JSONEncoder().encode(place).write(to: file)
    }

    mutating func turnForward() {
        guard let page, page.hasMore, let last = page.last else { return }
        place.earlier.append(place.start)
        place.start = last
    }

    mutating func turnBack() {
        place.start = place.earlier.popLast() ?? nil
    }

    mutating func begin(_ order: Order) {
        place = Place(order: order.rawValue)
    }

    /// The post of a row, which is counted from 1.
    func post(_ row: Int) throws -> Post {
        guard let page, page.posts.indices.contains(row - 1) else { throw NoSuchRow(row: row) }
        return page.posts[row - 1]
    }

    /// Reads the page from the copy and prints it.
    mutating func show(_ feed: OfflineFeed) async throws {
        page = try await feed.posts(
            PostList(order: Order(rawValue: place.order)),
            from: place.start.map(OfflineStart.after) ?? .first,
            limit: Self.rowCount
        )
        printRows()
    }

    /// Reads the posts of the rows anew and prints them; no row moves.
    mutating func refreshRows(_ feed: OfflineFeed) async throws {
        guard var page else { return }
        for row in page.posts.indices {
            if let post = try await feed.post(page.posts[row].id) { page.posts[row] = post }
        }
        self.page = page
        printRows()
    }

    private func printRows() {
        guard let page, !page.posts.isEmpty else { return print("No posts here.") }
        for (row, post) in page.posts.enumerated() {
            let unread = post.viewer?.isRead == true ? " " : "*"
            let score = String(post.score).leftPadded(to: 6)
            print("\(String(row + 1).leftPadded(to: 2)) \(unread)\(score)  \(post.title.visible)")
        }
        if page.hasMore { print("   n: more") }
    }

    /// A post as a page of its own.
    static func page(of post: Post) -> String {
        let author = post.author?.displayName ?? "somebody"
        let date = Date(timeIntervalSince1970: Double(post.createTimeMilliseconds) / 1000)
        let lines = [
            post.title, "by \(author), \(date), comments: \(post.commentCount)",
            post.text, post.imageURL,
        ]
        return lines.filter { !$0.isEmpty }.map(\.visible).joined(separator: "\n")
    }
}

struct NoSuchRow: Error, CustomStringConvertible {
    let row: Int
    var description: String { "There is no row \(row)." }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }

    /// The text without characters that control a terminal: it is somebody else's.
    fileprivate var visible: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { !$0.properties.isControl }))
    }
}

extension Unicode.Scalar.Properties {
    fileprivate var isControl: Bool {
        switch generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
