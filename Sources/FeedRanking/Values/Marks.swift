/// What a viewer does to a post by marking it.
///
/// The raw values are stored in data directories, so they never change.
package enum Mark: UInt8, CaseIterable, Sendable {
    /// The viewer has read the post.
    case read = 1
    /// Takes `read` back.
    case unread = 2
    /// The post leaves the viewer's lists.
    case dismissed = 3
    /// Takes `dismissed` back.
    case restored = 4
}

/// The marks that stand on a post; empty where nothing was marked.
///
/// The raw values are stored in data directories, so they never change.
package struct MarkSet: OptionSet, BitwiseCopyable, Hashable, Sendable {
    package let rawValue: UInt8

    /// The marks of these bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The set of one mark.
    package init(_ mark: Mark) {
        self.init(rawValue: 1 << (mark.rawValue - 1))
    }

    /// The viewer has read the post.
    package static let read = MarkSet(.read)
    /// The viewer has taken `read` back, also one that came with a mark through a later post.
    package static let unread = MarkSet(.unread)
    /// The viewer has dismissed the post.
    package static let dismissed = MarkSet(.dismissed)
    /// The viewer has taken `dismissed` back.
    package static let restored = MarkSet(.restored)

    /// Whether no mark stands together with its opposite, and no unknown bit is set.
    package var isPossible: Bool {
        rawValue < 16 && !isSuperset(of: [.read, .unread])
            && !isSuperset(of: [.dismissed, .restored])
    }
}

/// The marks of a viewer on one post as of a revision.
package struct PostMarks: Hashable, Sendable {
    /// The voter number of the device or the user.
    package var viewer: VoterID
    /// The post.
    package var post: PostID
    /// All marks of the viewer that stand on the post by itself.
    package var marks: MarkSet
    /// The revision that orders the change among all other marks of the viewer.
    package var revision: UInt64

    /// The marks of a viewer on a post.
    package init(viewer: VoterID, post: PostID, marks: MarkSet, revision: UInt64) {
        self.viewer = viewer
        self.post = post
        self.marks = marks
        self.revision = revision
    }
}

/// A mark of a viewer on every post that was created up to a post.
package struct MarkThrough: Hashable, Sendable {
    /// The voter number of the device or the user.
    package var viewer: VoterID
    /// The feed of the posts; nil for all feeds.
    package var feed: FeedID?
    /// The mark that the posts get.
    package var mark: Mark
    /// The creation time of the last post, in Unix milliseconds.
    package var createTimeMilliseconds: Int64
    /// The last post; among posts of its time, those with a smaller id are marked too.
    package var post: PostID
    /// The place of the mark among the viewer's marks through posts of the feed and the topic.
    ///
    /// A later mark through an earlier post stands one place above the mark that it does not cover.
    /// So a mark replaces the one at its place, and ends those above it.
    package var place: UInt8
    /// The revision that orders the change among all other marks of the viewer.
    package var revision: UInt64

    /// A mark on all posts up to one.
    package init(
        viewer: VoterID,
        feed: FeedID?,
        mark: Mark,
        createTimeMilliseconds: Int64,
        post: PostID,
        place: UInt8,
        revision: UInt64
    ) {
        self.viewer = viewer
        self.feed = feed
        self.mark = mark
        self.createTimeMilliseconds = createTimeMilliseconds
        self.post = post
        self.place = place
        self.revision = revision
    }
}
