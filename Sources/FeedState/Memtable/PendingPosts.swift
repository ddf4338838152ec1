import FeedRanking

/// The newest state of each post that was made or edited, until it is checkpointed.
///
/// A dictionary of places only: the states themselves are large, and a dictionary of them would
/// keep room for twice as many and hash all anew whenever it grows.
struct PendingPosts {
    private var places: [UInt64: Int] = [:]
    private var states: [PostState] = []
    private var textByteCount = 0

    /// About the bytes of memory that all posts take.
    var byteCount: Int {
        textByteCount + states.capacity * MemoryLayout<PostState>.stride + places.capacity * 17
    }

    /// The state of a post; O(1).
    subscript(id: UInt64) -> PostState? { places[id].map { states[$0] } }

    /// Keeps the state, unless the state of a newer edit is there; O(1).
    mutating func set(_ post: PostState) {
        let id = post.counts.id.rawValue
        guard let place = places[id] else {
            places[id] = states.count
            textByteCount += post.content.byteCount
            states.append(post)
            return
        }
        guard states[place].editRevision <= post.editRevision else { return }
        textByteCount += post.content.byteCount - states[place].content.byteCount
        states[place] = post
    }

    /// Forgets a post and its texts; O(1).
    mutating func remove(_ id: UInt64) {
        guard let place = places.removeValue(forKey: id) else { return }
        textByteCount -= states[place].content.byteCount
        states[place].content = PostContent()
    }
}

extension PostContent {
    /// The bytes of all texts together.
    var byteCount: Int {
        authorName.utf8.count + title.utf8.count + text.utf8.count + linkURL.utf8.count
            + thumbnailURL.utf8.count + imageURL.utf8.count
    }
}
