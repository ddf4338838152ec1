package import FeedProto

/// Posts that a command has found and may have changed, as `correct-times` and `delete-posts` report them.
package struct FoundPostsReport: Report, Equatable {
    /// A post as it was found; what its command does not report is nil.
    struct Row: Encodable, Equatable, Sendable {
        let id: UInt64
        let feed: String
        let title: String
        let createTimeMs: Int64
        var updateTimeMs: Int64?
        var authorId: UInt64?
        var clientId: String?
        var host: String?
    }

    /// The most posts that are shown: there may be millions.
    static let maximumRowCount = 1_000

    /// How many posts there are, or were before they were changed.
    private(set) var postCount: UInt64 = 0
    /// Whether they were corrected or deleted.
    let isApplied: Bool
    /// Of `delete-posts`: the time since which the service knows devices and hosts.
    private(set) var originsSinceMs: Int64?
    /// The first of the posts.
    private(set) var posts: [Row] = []

    /// The report before the service has answered.
    package init(isApplied: Bool) {
        self.isApplied = isApplied
    }

    /// Adds a part of the posts that lie ahead of the service's clock.
    package mutating func add(_ part: CorrectTimesResponse) {
        add(part.posts) {
            Row(
                id: $0.id,
                feed: $0.feed,
                title: $0.title,
                createTimeMs: $0.createTimeMilliseconds,
                updateTimeMs: $0.updateTimeMilliseconds
            )
        }
    }

    /// Adds a part of the posts of somebody.
    package mutating func add(_ part: DeletePostsResponse) {
        originsSinceMs = part.originsSinceTimeMilliseconds
        add(part.posts) {
            Row(
                id: $0.id,
                feed: $0.feed,
                title: $0.title,
                createTimeMs: $0.createTimeMilliseconds,
                authorId: $0.authorID,
                clientId: Self.hexadecimal($0.clientID),
                host: $0.host
            )
        }
    }

    private mutating func add<Post>(_ found: [Post], _ row: (Post) -> Row) {
        postCount += UInt64(found.count)
        posts += found.prefix(max(0, Self.maximumRowCount - posts.count)).map(row)
    }

    /// A table of the posts, and what became of them.
    package func text(_ style: TextStyle) -> String {
        let count = postCount == 1 ? "1 post" : "\(postCount) posts"
        guard let originsSinceMs else {
            guard postCount > 0 else { return "No post lies ahead of the service's clock.\n" }
            return table(style, [.text("EDITED")]) { [style.time($0.updateTimeMs ?? 0)] }
                + (isApplied
                    ? "\(count) corrected; the times shown are those before.\n"
                    : "\(count) ahead of the service's clock. If that clock is right, correct them: "
                        + "feedctl correct-times --apply\n")
        }
        let origins = table(style, [.number("AUTHOR"), .text("DEVICE"), .text("HOST")]) { post in
            let author = post.authorId.flatMap { $0 == 0 ? nil : "\($0)" }
            return [author ?? "", post.clientId ?? "", post.host ?? ""]
        }
        return (postCount == 0 ? "" : origins) + "\(count) \(isApplied ? "deleted" : "found").\n"
            + "The service knows devices and hosts of posts made since "
            + "\(style.time(originsSinceMs)).\n"
    }

    private func table(
        _ style: TextStyle,
        _ columns: [TextTable.Column],
        _ cells: (Row) -> [String]
    ) -> String {
        var table = TextTable(
            [.number("ID"), .text("FEED"), .text("CREATED")] + columns + [.text("TITLE")]
        )
        for post in posts {
            table.append(
                ["\(post.id)", post.feed, style.time(post.createTimeMs)] + cells(post) + [
                    post.title
                ]
            )
        }
        let rest = postCount > UInt64(posts.count) ? "The first \(posts.count) are shown.\n" : ""
        return table.rendered(style) + "\n" + rest
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
}
