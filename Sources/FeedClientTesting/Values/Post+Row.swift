internal import FeedProto
internal import FeedRanking

extension Post {
    /// The post of a row of a page; a caller with an identity sees its own ballot and marks.
    init(_ row: PostRow, of page: PostPage, feed: String, isForViewer: Bool) {
        func text(_ range: FeedRanking.TextRange) -> String {
            String(decoding: page.bytes(range), as: UTF8.self)
        }
        let name = text(row.authorName)
        self.init(
            id: row.id.rawValue,
            feed: feed,
            author: row.authorID == 0 && name.isEmpty
                ? nil : User(id: row.authorID, displayName: name),
            title: text(row.title),
            text: text(row.text),
            linkURL: text(row.linkURL),
            thumbnailURL: text(row.thumbnailURL),
            imageURL: text(row.imageURL),
            score: row.score,
            upvoteCount: row.upvoteCount,
            downvoteCount: row.downvoteCount,
            commentCount: row.commentCount,
            createTimeMilliseconds: row.createTimeMilliseconds,
            updateTimeMilliseconds: row.updateTimeMilliseconds,
            revision: row.revision
        )
        guard isForViewer else { return }
        viewer = Viewer(
            vote: FeedProto.VoteDirection(rawValue: Int32(row.viewerVote?.rawValue ?? 0)),
            isRead: row.viewerState.isRead,
            isDismissed: row.viewerState.isDismissed
        )
    }
}

extension PostContent {
    /// The fields of a new post that a caller may set.
    init(_ post: Post) {
        self.init(
            authorName: post.author?.displayName ?? "",
            title: post.title,
            text: post.text,
            linkURL: post.linkURL,
            thumbnailURL: post.thumbnailURL,
            imageURL: post.imageURL,
            commentCount: post.commentCount
        )
    }
}

extension PostChanges {
    /// The fields of a post that a mask names.
    init(_ post: Post, _ mask: [PostField]) throws(Status) {
        self.init()
        for field in mask {
            switch field {
            case .title: title = post.title
            case .text: text = post.text
            case .linkURL: linkURL = post.linkURL
            case .thumbnailURL: thumbnailURL = post.thumbnailURL
            case .imageURL: imageURL = post.imageURL
            case .commentCount: commentCount = post.commentCount
            default: throw .invalid(.badField, "update_mask")
            }
        }
    }
}
