internal import FeedDataset
import FeedProto

extension Post {
    /// A post as it is imported: without votes, which are cast later.
    init(_ post: DatasetPost) {
        self.init(
            author: post.authorName.isEmpty ? nil : User(displayName: post.authorName),
            title: post.title,
            text: post.text,
            linkURL: post.linkURL,
            thumbnailURL: post.thumbnailURL,
            commentCount: post.commentCount,
            createTimeMilliseconds: post.createTimeMilliseconds
        )
    }
}
