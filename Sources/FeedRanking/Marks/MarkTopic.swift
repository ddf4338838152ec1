/// What a mark is about; the marks of one topic replace each other.
package enum MarkTopic: Sendable {
    /// Whether the viewer has read the post: `read` and `unread`.
    case reading
    /// Whether the viewer has dismissed the post: `dismissed` and `restored`.
    case dismissal
}

extension Mark {
    /// The topic of the mark.
    package var topic: MarkTopic {
        switch self {
        case .read, .unread: .reading
        case .dismissed, .restored: .dismissal
        }
    }

    /// Whether the mark says what posts without marks are not: read, or dismissed.
    var isSetting: Bool { self == .read || self == .dismissed }
}

extension MarkSet {
    /// The mark of a topic; nil where the set has none.
    func mark(of topic: MarkTopic) -> Mark? {
        switch topic {
        case .reading: contains(.read) ? .read : contains(.unread) ? .unread : nil
        case .dismissal: contains(.dismissed) ? .dismissed : contains(.restored) ? .restored : nil
        }
    }

    /// The set with another mark of a topic, or with none.
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

/// What decides which marks reach a post: its id, its feed and its time.
package struct PostOrigin: BitwiseCopyable, Hashable, Sendable {
    /// The id of the post.
    package var id: PostID
    /// The feed of the post.
    package var feed: FeedID
    /// The Unix time of its creation.
    package var createTimeMilliseconds: Int64

    /// The origin of a post.
    package init(id: PostID, feed: FeedID, createTimeMilliseconds: Int64) {
        self.id = id
        self.feed = feed
        self.createTimeMilliseconds = createTimeMilliseconds
    }
}

extension PostRow {
    /// The origin of the row's post.
    package var origin: PostOrigin {
        PostOrigin(id: id, feed: feed, createTimeMilliseconds: createTimeMilliseconds)
    }
}

extension ViewerState {
    /// Whether the mark of a topic is set.
    subscript(topic: MarkTopic) -> Bool { topic == .reading ? isRead : isDismissed }
}
