/// A post as a page in the order TOP shows it.
package struct ListedPost: Sendable, Equatable {
    /// The post.
    package var id: UInt64
    /// Its score on the page.
    package var score: Int64
    /// Its title, which orders equal scores.
    package var title: String
    /// When it was created.
    package var createTimeMilliseconds: Int64

    /// A post on a page.
    package init(id: UInt64, score: Int64, title: String, createTimeMilliseconds: Int64 = 0) {
        self.id = id
        self.score = score
        self.title = title
        self.createTimeMilliseconds = createTimeMilliseconds
    }

    /// Whether this post may stand directly before `next`: higher score first, then the title by
    /// the bytes of its UTF-8, then the lower id.
    package func precedes(_ next: ListedPost) -> Bool {
        if score != next.score { return score > next.score }
        // Compared by bytes: strings that Swift treats as equal may have different bytes.
        if !title.utf8.elementsEqual(next.title.utf8) {
            return title.utf8.lexicographicallyPrecedes(next.title.utf8)
        }
        return id < next.id
    }
}

/// Checks pages one by one: inside a page the order holds and no post comes twice.
package enum PageCheck {
    /// Checks one page that was read while votes may have changed the order between pages.
    package static func check(_ posts: [ListedPost], into findings: inout Findings) {
        for (post, next) in zip(posts, posts.dropFirst())
        where post.id != next.id && !post.precedes(next) {
            findings.note(
                .pageOrder,
                """
                Post \(next.id) with score \(next.score) stands behind post \(post.id) \
                with score \(post.score).
                """
            )
        }
        if Set(posts.map(\.id)).count < posts.count {
            findings.note(.listedTwice, "A page of \(posts.count) posts lists one of them twice.")
        }
    }
}
