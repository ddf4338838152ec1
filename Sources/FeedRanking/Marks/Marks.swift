/// What a viewer does to a post by marking it.
///
/// The raw values are stored in data directories, so they never change.
package enum Mark: UInt8, CaseIterable, Sendable {
    case read = 1
    /// Takes `read` back.
    case unread = 2
    /// The post leaves the viewer's lists.
    case dismissed = 3
    /// Takes `dismissed` back.
    case restored = 4

    package var topic: MarkTopic {
        switch self {
        case .read, .unread: .reading
        case .dismissed, .restored: .dismissal
        }
    }

    /// Whether the mark says what posts without marks are not: read, or dismissed.
    var isSetting: Bool { self == .read || self == .dismissed }
}

/// The marks that stand on a post; empty where nothing was marked.
///
/// The raw values are stored in data directories, so they never change.
package struct MarkSet: OptionSet, BitwiseCopyable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package init(_ mark: Mark) { self.init(rawValue: 1 << (mark.rawValue - 1)) }

    package static let read = MarkSet(.read)
    /// The viewer has taken `read` back, also one that came with a mark through a later post.
    package static let unread = MarkSet(.unread)
    package static let dismissed = MarkSet(.dismissed)
    package static let restored = MarkSet(.restored)

    /// Whether no mark stands together with its opposite, and no unknown bit is set.
    package var isPossible: Bool {
        rawValue < 16 && !isSuperset(of: [.read, .unread])
            && !isSuperset(of: [.dismissed, .restored])
    }

    func mark(of topic: MarkTopic) -> Mark? {
        switch topic {
        case .reading: contains(.read) ? .read : contains(.unread) ? .unread : nil
        case .dismissal: contains(.dismissed) ? .dismissed : contains(.restored) ? .restored : nil
        }
    }

    func replacing(_ topic: MarkTopic, with mark: Mark?) -> MarkSet {
        var set = self
        switch topic {
        case .reading: set.subtract([.read, .unread])
        case .dismissal: set.subtract([.dismissed, .restored])
        }
        if let mark { set.insert(MarkSet(mark)) }
        return set
    }
}

/// The marks of a viewer on one post as of a revision.
package struct PostMarks: Hashable, Sendable {
    /// The voter number of the device or the user.
    package var viewer: VoterID
    package var post: PostID
    /// All marks of the viewer that stand on the post by itself.
    package var marks: MarkSet
    /// The revision that orders the change among all other marks of the viewer.
    package var revision: UInt64

    package init(viewer: VoterID, post: PostID, marks: MarkSet, revision: UInt64) {
        self.viewer = viewer
        self.post = post
        self.marks = marks
        self.revision = revision
    }
}

/// A mark of a viewer on every post that was created up to a post.
package struct MarkThrough: Hashable, Sendable {
    package var viewer: VoterID
    /// The feed of the posts; nil for all feeds.
    package var feed: FeedID?
    package var mark: Mark
    package var createTimeMilliseconds: Int64
    /// The last post; among posts of its time, those with a smaller id are marked too.
    package var post: PostID
    /// The place of the mark among the viewer's marks through posts of the feed and the topic.
    ///
    /// A later mark through an earlier post stands one place above the mark that it does not cover.
    /// So a mark replaces the one at its place, and ends those above it.
    package var place: UInt8
    package var revision: UInt64

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

    /// Whether the mark reaches a post of its list: the post was created up to the mark's post.
    package func covers(_ origin: PostOrigin) -> Bool {
        (origin.createTimeMilliseconds, origin.id) <= (createTimeMilliseconds, post)
    }

    /// Whether the mark covers a post, and posts behind it.
    func reachesBeyond(_ origin: PostOrigin) -> Bool {
        (createTimeMilliseconds, post) > (origin.createTimeMilliseconds, origin.id)
    }
}

/// What a mark is about; the marks of one topic replace each other.
package enum MarkTopic: Sendable {
    /// Whether the viewer has read the post: `read` and `unread`.
    case reading
    /// Whether the viewer has dismissed the post: `dismissed` and `restored`.
    case dismissal
}

/// What decides which marks reach a post: its id, its feed and its time.
package struct PostOrigin: BitwiseCopyable, Hashable, Sendable {
    package var id: PostID
    package var feed: FeedID
    package var createTimeMilliseconds: Int64

    package init(id: PostID, feed: FeedID, createTimeMilliseconds: Int64) {
        self.id = id
        self.feed = feed
        self.createTimeMilliseconds = createTimeMilliseconds
    }

    init(_ id: PostID, _ record: PostRecord) {
        self.init(id: id, feed: record.feed, createTimeMilliseconds: record.createTimeMilliseconds)
    }
}

extension PostRow {
    package var origin: PostOrigin {
        PostOrigin(id: id, feed: feed, createTimeMilliseconds: createTimeMilliseconds)
    }
}

extension ViewerState {
    subscript(topic: MarkTopic) -> Bool { topic == .reading ? isRead : isDismissed }
}
