/// The texts of a post as UTF-8 without NUL, checked by the caller, and its number of comments.
///
/// A text over `RankingLimits.maximumTextByteCount`, or another field over
/// `RankingLimits.maximumFieldByteCount`, is a programmer's error.
package struct PostContent: Sendable, Equatable {
    /// Who made the post: a user, or else a device (`Device16.authorID`), or 0 for nobody who is known, as
    /// one whose account was deleted.
    ///
    /// A device has the bit 62, and not the bit 63. No user's id begins so: a service's users have the bit
    /// 63, and accounts are numbered from 1.
    package var authorID: UInt64
    /// Changes with the author only.
    package var authorName: String
    /// Decides between equal scores in `top`, by the byte order of its UTF-8.
    package var title: String
    package var text: String
    /// The address that the post links to; the store does not check it.
    package var linkURL: String
    /// A small picture for lists.
    package var thumbnailURL: String
    /// A picture for the post by itself.
    package var imageURL: String
    /// The number of comments, which the caller sets; the store counts none.
    package var commentCount: UInt64

    package init(
        authorID: UInt64 = 0,
        authorName: String = "",
        title: String = "",
        text: String = "",
        linkURL: String = "",
        thumbnailURL: String = "",
        imageURL: String = "",
        commentCount: UInt64 = 0
    ) {
        self.authorID = authorID
        self.authorName = authorName
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.commentCount = commentCount
    }

    static let deviceAuthorBit: UInt64 = 1 << 62

    /// The user of an author's number; 0 is a device, and nobody who is known.
    static func user(ofAuthor id: UInt64) -> UInt64 { id >> 62 == 1 ? 0 : id }

    package var textByteCount: Int {
        authorName.utf8.count + title.utf8.count + text.utf8.count + linkURL.utf8.count
            + thumbnailURL.utf8.count + imageURL.utf8.count
    }

    mutating func apply(_ changes: PostChanges) {
        title = changes.title ?? title
        text = changes.text ?? text
        linkURL = changes.linkURL ?? linkURL
        thumbnailURL = changes.thumbnailURL ?? thumbnailURL
        imageURL = changes.imageURL ?? imageURL
        commentCount = changes.commentCount ?? commentCount
    }

    /// The bytes of a text that no post can have; nil where all fit.
    var excessiveByteCount: Int? {
        let textCount = text.utf8.count
        if textCount > RankingLimits.maximumTextByteCount { return textCount }
        let longest = max(
            max(authorName.utf8.count, title.utf8.count),
            max(linkURL.utf8.count, max(thumbnailURL.utf8.count, imageURL.utf8.count))
        )
        return longest > RankingLimits.maximumFieldByteCount ? longest : nil
    }
}

/// The new values of an update; nil leaves what is there.
package struct PostChanges: Sendable, Equatable {
    /// A new title gives the post a new place in `top`.
    package var title: String?
    package var text: String?
    /// The empty text takes the link away; and so with the pictures.
    package var linkURL: String?
    package var thumbnailURL: String?
    package var imageURL: String?
    /// Replaces the count; the store adds nothing up.
    package var commentCount: UInt64?

    package init(
        title: String? = nil,
        text: String? = nil,
        linkURL: String? = nil,
        thumbnailURL: String? = nil,
        imageURL: String? = nil,
        commentCount: UInt64? = nil
    ) {
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.commentCount = commentCount
    }
}

/// A post from another system, with its time and its votes there; the caller has checked it.
package struct ImportedPost: Sendable, Equatable {
    package var content: PostContent
    /// The Unix time, 0 to `RankingLimits.maximumTimeMilliseconds`.
    ///
    /// The times may come in any order, also before the times of existing posts.
    package var createTimeMilliseconds: Int64
    /// The votes it starts with, each count at most `RankingLimits.maximumImportedCount`; votes add to them.
    package var upvoteCount: UInt64
    package var downvoteCount: UInt64

    package init(
        content: PostContent,
        createTimeMilliseconds: Int64,
        upvoteCount: UInt64 = 0,
        downvoteCount: UInt64 = 0
    ) {
        self.content = content
        self.createTimeMilliseconds = createTimeMilliseconds
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
    }

    /// Whether the numbers are within the limits.
    var isPossible: Bool {
        (0...RankingLimits.maximumTimeMilliseconds).contains(createTimeMilliseconds)
            && max(upvoteCount, downvoteCount) <= RankingLimits.maximumImportedCount
    }
}

package struct ImportOutcome: Equatable, Sendable {
    /// The first post's id; the ids of the other posts follow consecutively.
    package var firstID: PostID
    /// The greatest revision of the imported posts.
    package var revision: UInt64
    /// A post of each stripe that the caller should refresh after its answers are sent.
    package var refreshDue: [PostID]
}

/// A post whose creation or last edit lies ahead of the clock, as it was found.
package struct PostAhead: Equatable, Sendable {
    package var id: PostID
    package var feed: FeedID
    package var title: String
    /// The Unix time of its creation, before any correction.
    package var createTimeMilliseconds: Int64
    /// The Unix time of its last edit, before any correction.
    package var updateTimeMilliseconds: Int64
}

/// A part of the posts that lie ahead of the clock, in the order of their ids.
package struct PostsAhead: Equatable, Sendable {
    /// The posts of this part; the part may be empty although more parts follow.
    package var posts: [PostAhead] = []
    /// The last id that was examined, where more ids follow; nil at the end.
    package var next: PostID?
    var textByteCount = 0
    /// The greatest revision that a correction took; 0 where no post was corrected.
    package var revision: UInt64 = 0
    /// A post of each stripe that the caller should refresh after its answers are sent.
    package var refreshDue: [PostID] = []
}
