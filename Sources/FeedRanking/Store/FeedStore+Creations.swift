/// Who made the posts, and when.
extension FeedStore {
    /// The creation of a post whose author and time pass a test; nil also where there is no such post.
    ///
    /// O(1), without a copy of the texts where the test fails.
    package func creation(
        of id: PostID,
        where passes: (_ authorID: UInt64, _ createTimeMilliseconds: Int64) -> Bool
    ) -> PostCreation? {
        stripes.withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id) else { return nil }
            let record = stripe.posts[slot]
            let authorID = record.content.authorID
            guard passes(authorID, record.createTimeMilliseconds) else { return nil }
            return PostCreation(
                feed: record.feed,
                title: record.content.content.title,
                authorID: authorID,
                createTimeMilliseconds: record.createTimeMilliseconds
            )
        }
    }
}

/// What the store knows of a post's creation, and what a person knows the post by.
package struct PostCreation: Sendable, Equatable {
    /// The feed that the post is in.
    package let feed: FeedID
    /// The post's title.
    package let title: String
    /// The user that wrote the post; 0 for an author without an account.
    package let authorID: UInt64
    /// When the post was created, in Unix milliseconds.
    package let createTimeMilliseconds: Int64
}
