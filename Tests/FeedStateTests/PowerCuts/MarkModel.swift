import FeedRanking

/// The marks of one viewer in lists, by the rules of MarkPosts told anew: of the marks of a topic that
/// reach a post, the last one stands.
struct MarkModel: Equatable {
    /// The marks on a single post; the last of them decides how new all of them are.
    private struct OnPost: Equatable {
        var marks: [MarkTopic: Mark] = [:]
        var order = 0
    }

    /// A mark on all posts up to one, of a feed or of all for nil.
    private struct Through: Equatable {
        var mark: Mark
        var feed: FeedID?
        var last: PostOrigin
        var order: Int

        func reaches(_ post: PostOrigin) -> Bool {
            (feed == nil || feed == post.feed) && post.isUpTo(last)
        }
    }

    private var posts: [PostID: OnPost] = [:]
    private var throughs: [Through] = []
    /// How many marks have changed something.
    private var order = 0

    /// What the marks make of a post.
    func state(of post: PostOrigin) -> ViewerState {
        ViewerState(isRead: isSet(.reading, post), isDismissed: isSet(.dismissal, post))
    }

    /// Marks a post; nothing where it is as the mark says.
    mutating func mark(_ post: PostOrigin, as mark: Mark) {
        let topic = mark.topic
        guard isSet(topic, post) != mark.sets else { return }
        order += 1
        var onPost = posts[post.id] ?? OnPost()
        // What a newer mark through posts has ended does not come back.
        for other in [MarkTopic.reading, .dismissal]
        where newest(other, reaching: post)?.order ?? 0 > onPost.order {
            onPost.marks[other] = nil
        }
        // What the marks through posts say is not said again.
        let isSaid = newest(topic, reaching: post)?.mark.sets ?? false == mark.sets
        onPost.marks[topic] = isSaid ? nil : mark
        onPost.order = order
        posts[post.id] = onPost
    }

    /// Marks all posts up to one.
    mutating func mark(through post: PostOrigin, in feed: FeedID?, as mark: Mark) {
        order += 1
        throughs.removeAll {
            $0.feed == feed && $0.mark.topic == mark.topic && $0.last.isUpTo(post)
        }
        throughs.append(Through(mark: mark, feed: feed, last: post, order: order))
    }

    /// How many marks through later posts stand in a list, which has a limit for them.
    func countBeyond(_ post: PostOrigin, in feed: FeedID?, _ topic: MarkTopic) -> Int {
        throughs.count { $0.feed == feed && $0.mark.topic == topic && !$0.last.isUpTo(post) }
    }

    private func isSet(_ topic: MarkTopic, _ post: PostOrigin) -> Bool {
        let through = newest(topic, reaching: post)
        if let onPost = posts[post.id], let mark = onPost.marks[topic],
            onPost.order > through?.order ?? 0
        {
            return mark.sets
        }
        return through?.mark.sets ?? false
    }

    private func newest(_ topic: MarkTopic, reaching post: PostOrigin) -> Through? {
        throughs.last { $0.mark.topic == topic && $0.reaches(post) }
    }
}

extension PostOrigin {
    /// Whether the post was created before another one, or is it.
    fileprivate func isUpTo(_ other: PostOrigin) -> Bool {
        (createTimeMilliseconds, id) <= (other.createTimeMilliseconds, other.id)
    }
}

extension Mark {
    /// Whether the mark says what no post is by itself.
    fileprivate var sets: Bool { self == .read || self == .dismissed }
}
