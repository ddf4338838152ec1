import FeedRanking

/// The newest marks of each viewer on each post, and through posts, that have changed.
struct PendingMarks {
    /// The place of a mark through a post among all such marks.
    struct ThroughKey: Hashable {
        var viewer: VoterID
        var feed: FeedID?
        var topic: MarkTopic
        var place: UInt8
    }

    /// The marks on posts by chunk, in the order of posts.
    private var chunks: [UInt64: [PostMarks]] = [:]
    private(set) var throughs: [ThroughKey: MarkThrough] = [:]
    /// The marks on posts.
    private(set) var count = 0

    /// Keeps the marks on a post, unless newer ones are there; O(log n).
    mutating func set(_ marks: PostMarks) {
        guard let key = MarkChunk.key(marks.viewer, marks.post.rawValue) else { return }
        count += chunks[key, default: []].set(marks)
    }

    /// Keeps a mark through a post, unless a newer one is at its place; O(1).
    mutating func set(_ mark: MarkThrough) {
        let key = ThroughKey(mark)
        guard throughs[key]?.revision ?? 0 < mark.revision else { return }
        throughs[key] = mark
    }

    /// The keys of the chunks with changed marks, in no order.
    var keys: [UInt64] { Array(chunks.keys) }

    /// The marks of a chunk, in the order of posts.
    subscript(key: UInt64) -> [PostMarks] { chunks[key] ?? [] }

    /// About the bytes of memory that they take.
    var byteCount: Int {
        chunks.capacity * 17 + count * MemoryLayout<PostMarks>.stride
            + throughs.capacity
            * (MemoryLayout<ThroughKey>.stride + MemoryLayout<MarkThrough>.stride + 1)
    }
}

extension PendingMarks.ThroughKey {
    /// The place of a mark.
    init(_ mark: MarkThrough) {
        viewer = mark.viewer
        feed = mark.feed
        topic = mark.mark.topic
        place = mark.place
    }
}

extension [PostMarks] {
    /// Puts marks into their place in the order of posts; returns by how many the array has grown.
    fileprivate mutating func set(_ marks: PostMarks) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].post.rawValue < marks.post.rawValue {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < count, self[low].post == marks.post else {
            insert(marks, at: low)
            return 1
        }
        if self[low].revision < marks.revision { self[low] = marks }
        return 0
    }
}
