internal import FeedProto
internal import FeedRanking

/// The texts of whole posts.
extension TextRules {
    /// Checks the texts of a new post against the rules of its feed.
    func check(_ post: Post, at path: PostPath, against policy: FeedPolicy) throws(Status) {
        try checkTitle(
            post.title,
            at: path,
            maximumCharacterCount: policy.maximumTitleCharacterCount
        )
        try checkText(
            post.text,
            at: path,
            minimumCharacterCount: policy.minimumTextCharacterCount,
            maximumCharacterCount: policy.maximumTextCharacterCount
        )
        try checkLink(post.linkURL, at: path)
        try checkURL(post.thumbnailURL, at: path, "thumbnail_url")
        try checkURL(post.imageURL, at: path, "image_url")
        if let author = post.author { try checkName(author.displayName, at: path) }
    }

    /// Checks the changed texts of a post against the rules of its feed.
    func check(_ changes: PostChanges, against policy: FeedPolicy) throws(Status) {
        if let title = changes.title {
            try checkTitle(
                title,
                at: .only,
                maximumCharacterCount: policy.maximumTitleCharacterCount
            )
        }
        if let text = changes.text {
            try checkText(
                text,
                at: .only,
                minimumCharacterCount: policy.minimumTextCharacterCount,
                maximumCharacterCount: policy.maximumTextCharacterCount
            )
        }
        if let url = changes.linkURL { try checkLink(url, at: .only) }
        if let url = changes.thumbnailURL { try checkURL(url, at: .only, "thumbnail_url") }
        if let url = changes.imageURL { try checkURL(url, at: .only, "image_url") }
    }
}
