package import FeedProto

/// Posts that lie ahead of the service's clock, as `correct-times` reports them.
package struct CorrectedTimesReport: Report, Equatable {
    /// A post and the times that it had when it was found.
    struct Row: Encodable, Equatable, Sendable {
        let id: UInt64
        let feed: String
        let title: String
        let createTimeMs: Int64
        let updateTimeMs: Int64
    }

    /// The most posts that are shown: there may be millions.
    static let maximumRowCount = 1_000

    /// How many posts lie ahead of the clock, or did before they were corrected.
    private(set) var postCount: UInt64 = 0
    /// Whether they were corrected.
    let isApplied: Bool
    /// The first of them.
    private(set) var posts: [Row] = []

    /// The report before the service has answered.
    package init(isApplied: Bool) {
        self.isApplied = isApplied
    }

    /// Adds a part of what the service has found.
    package mutating func add(_ part: CorrectTimesResponse) {
        postCount += UInt64(part.posts.count)
        for post in part.posts.prefix(max(0, Self.maximumRowCount - posts.count)) {
            posts.append(
                Row(
                    id: post.id,
                    feed: post.feed,
                    title: post.title,
                    createTimeMs: post.createTimeMilliseconds,
                    updateTimeMs: post.updateTimeMilliseconds
                )
            )
        }
    }

    /// A table of the posts, and their correction.
    package func text(_ style: TextStyle) -> String {
        guard postCount > 0 else { return "No post lies ahead of the service's clock.\n" }
        var table = TextTable([
            .number("ID"), .text("FEED"), .text("CREATED"), .text("EDITED"), .text("TITLE"),
        ])
        for post in posts {
            table.append([
                "\(post.id)", post.feed, style.time(post.createTimeMs),
                style.time(post.updateTimeMs), post.title,
            ])
        }
        return table.rendered(style) + footer
    }

    private var footer: String {
        var lines = "\n"
        if postCount > UInt64(posts.count) { lines += "The first \(posts.count) are shown.\n" }
        let count = postCount == 1 ? "1 post" : "\(postCount) posts"
        lines +=
            isApplied
            ? "\(count) corrected; the times shown are those before.\n"
            : "\(count) ahead of the service's clock. If that clock is right, correct them: "
                + "feedctl correct-times --apply\n"
        return lines
    }
}
