package import FeedProto

/// Posts with who made them, as `delete-posts` reports them.
package struct DeletedPostsReport: Report, Equatable {
    /// A post and who made it.
    struct Row: Encodable, Equatable, Sendable {
        let id: UInt64
        let feed: String
        let title: String
        let createTimeMs: Int64
        let authorId: UInt64
        let clientId: String
        let host: String
    }

    /// The most posts that are shown: there may be millions.
    static let maximumRowCount = 1_000

    /// How many posts there are, or were before they were deleted.
    private(set) var postCount: UInt64 = 0
    /// Whether they were deleted.
    let isApplied: Bool
    /// The time since which the service knows devices and hosts.
    private(set) var originsSinceMs: Int64 = 0
    /// The first of the posts.
    private(set) var posts: [Row] = []

    /// The report before the service has answered.
    package init(isApplied: Bool) {
        self.isApplied = isApplied
    }

    /// Adds a part of what the service has found.
    package mutating func add(_ part: DeletePostsResponse) {
        postCount += UInt64(part.posts.count)
        originsSinceMs = part.originsSinceTimeMilliseconds
        for post in part.posts.prefix(max(0, Self.maximumRowCount - posts.count)) {
            posts.append(
                Row(
                    id: post.id,
                    feed: post.feed,
                    title: post.title,
                    createTimeMs: post.createTimeMilliseconds,
                    authorId: post.authorID,
                    clientId: Self.hexadecimal(post.clientID),
                    host: post.host
                )
            )
        }
    }

    /// A table of the posts, and what became of them.
    package func text(_ style: TextStyle) -> String {
        var text = ""
        if postCount > 0 {
            var table = TextTable([
                .number("ID"), .text("FEED"), .text("CREATED"), .number("AUTHOR"), .text("DEVICE"),
                .text("HOST"), .text("TITLE"),
            ])
            for post in posts {
                table.append([
                    "\(post.id)", post.feed, style.time(post.createTimeMs),
                    post.authorId == 0 ? "" : "\(post.authorId)", post.clientId, post.host,
                    post.title,
                ])
            }
            text = table.rendered(style) + "\n"
        }
        if postCount > UInt64(posts.count) { text += "The first \(posts.count) are shown.\n" }
        let count = postCount == 1 ? "1 post" : "\(postCount) posts"
        return text + (isApplied ? "\(count) deleted.\n" : "\(count) found.\n")
            + "The service knows devices and hosts of posts made since "
            + "\(style.time(originsSinceMs)).\n"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
}
