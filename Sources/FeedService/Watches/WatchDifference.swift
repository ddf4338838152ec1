internal import FeedProto
internal import FeedRanking

/// What an event has to say: the difference between what a client knows and what is.
struct WatchDifference {
    /// The posts whose texts the client does not know.
    var wholePosts: [PostID] = []
    /// The posts of which it knows all but the newest numbers.
    var numbers: [PostNumbers] = []
    /// The event beside its posts.
    var event = WatchEventFields()

    /// Whether there is nothing to say.
    var isEmpty: Bool {
        wholePosts.isEmpty && numbers.isEmpty && event == WatchEventFields()
    }

    /// The difference for a client that knows nothing, or everything up to a revision, of a list.
    ///
    /// A post that came into the list since may have changed before the revision. The client does not
    /// get it here, and finds its id in the ranking.
    init(from revision: UInt64?, to first: ArraySlice<PostNumbers>) {
        event.isReset = revision == nil
        event.ranking = first.map(\.id.rawValue)
        for post in first where post.revision > revision ?? 0 { wholePosts.append(post.id) }
    }

    /// The difference for a client that knows some first posts of a list; O(posts).
    ///
    /// - Parameters:
    ///   - known: What the client knows.
    ///   - first: What is.
    ///   - createdCount: The posts that were created in the list since.
    init(
        from known: ArraySlice<KnownPosts.Entry>,
        to first: ArraySlice<PostNumbers>,
        createdCount: UInt64
    ) {
        let isInOrder =
            known.count == first.count && zip(known, first).allSatisfy { $0.id == $1.id }
        if isInOrder {
            for (entry, post) in zip(known, first) { compare(entry.revision, post) }
        } else {
            var revisions: [PostID: UInt64] = [:]
            for entry in known { revisions[entry.id] = entry.revision }
            for post in first { compare(revisions.removeValue(forKey: post.id) ?? 0, post) }
            event.ranking = first.map(\.id.rawValue)
            event.removedIDs = known.map(\.id).filter { revisions[$0] != nil }.map(\.rawValue)
        }
        event.newPostCount = UInt32(clamping: createdCount)
    }

    /// The difference for a client that watches single posts.
    ///
    /// - Parameters:
    ///   - known: The posts and what the client knows of them.
    ///   - numbers: What is; nil where a post is gone.
    ///   - isReset: Whether the client forgets what it knew before.
    init(from known: WatchedPosts, to numbers: [PostNumbers?], isReset: Bool) {
        event.isReset = isReset
        for (place, id) in known.ids.enumerated() {
            let revision = known.revisions[place]
            if let post = numbers[place] {
                compare(revision, post)
            } else if revision != WatchedPosts.goneRevision {
                event.removedIDs.append(id.rawValue)
            }
        }
    }

    private mutating func compare(_ revision: UInt64, _ post: PostNumbers) {
        if post.editRevision > revision {
            wholePosts.append(post.id)
        } else if post.revision > revision {
            numbers.append(post)
        }
    }
}
