package import FeedProto
internal import FeedText
internal import Foundation

/// One post, as `get` and `create` report it and as the rows of `list` are.
package struct PostReport: Report, Equatable {
    let id: UInt64
    let feed: String
    let author: String
    /// The author's account; 0 is a name without an account.
    let authorID: UInt64
    let title: String
    /// The text of the post; `text(_:)` is the text for people.
    let body: String
    let linkURL: String
    let thumbnailURL: String
    let imageURL: String
    let score: Int64
    let upvoteCount: UInt64
    let downvoteCount: UInt64
    let commentCount: UInt64
    let createTimeMs: Int64
    let updateTimeMs: Int64
    let revision: UInt64
    /// The caller's ballot: `up`, `down`, or empty.
    let vote: String
    /// Whether the caller has read it.
    let isRead: Bool
    /// Whether the caller has dismissed it.
    let isDismissed: Bool

    private enum CodingKeys: String, CodingKey {
        case id, feed, author, authorID, title
        case body = "text"
        case linkURL, thumbnailURL, imageURL
        case score, upvoteCount, downvoteCount, commentCount
        case createTimeMs, updateTimeMs
        case revision, vote, isRead, isDismissed
    }

    /// The report of a post.
    package init(_ post: Post) {
        id = post.id
        feed = post.feed
        author = post.author?.displayName ?? ""
        authorID = post.author?.id ?? 0
        title = post.title
        body = post.text
        linkURL = post.linkURL
        thumbnailURL = post.thumbnailURL
        imageURL = post.imageURL
        score = post.score
        upvoteCount = post.upvoteCount
        downvoteCount = post.downvoteCount
        commentCount = post.commentCount
        createTimeMs = post.createTimeMilliseconds
        updateTimeMs = post.updateTimeMilliseconds
        revision = post.revision
        vote = post.viewer?.vote.argument ?? ""
        isRead = post.viewer?.isRead ?? false
        isDismissed = post.viewer?.isDismissed ?? false
    }

    private var marks: String {
        [isRead ? "read" : nil, isDismissed ? "dismissed" : nil].compactMap(\.self)
            .joined(separator: ", ")
    }

    /// A line a field, then the text with its own lines, indented.
    package func text(_ style: TextStyle) -> String {
        var fields = FieldList()
        fields.add("id", "\(id)")
        fields.add("feed", feed)
        fields.add("title", title)
        fields.add("author", authorID == 0 ? author : "\(author) (user \(authorID))")
        fields.add("link", linkURL)
        fields.add("thumbnail", thumbnailURL)
        fields.add("image", imageURL)
        fields.add("score", "\(score) (\(upvoteCount) up, \(downvoteCount) down)")
        fields.add("your vote", vote)
        fields.add("your marks", marks)
        fields.add("comments", "\(commentCount)")
        fields.add("created", style.time(createTimeMs))
        if updateTimeMs != createTimeMs { fields.add("edited", style.time(updateTimeMs)) }
        fields.add("revision", "\(revision)")
        guard !body.isEmpty else { return fields.rendered() }
        let lines = VisibleText.lines(body).map { $0.isEmpty ? "\n" : "    \($0)\n" }
        return fields.rendered() + "\n" + lines.joined()
    }
}

extension TextStyle {
    /// A time in relative form, and in full.
    func time(_ milliseconds: Int64) -> String {
        let relative = RelativeTime.text(milliseconds, now: nowMilliseconds)
        // Years have four digits; other times are no dates that people know.
        guard (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds) else {
            return relative
        }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return "\(relative) (\(date.ISO8601Format()))"
    }
}
