internal import FeedClient
internal import FeedProto

/// A watch of a client, and what it has been shown.
struct MemoryWatch {
    /// What is watched.
    let request: WatchPostsRequest
    /// Whose ballots and marks the posts show.
    let actingUserID: UInt64
    /// The client.
    var caller: MemoryCaller
    /// What it has been shown; nil where it is to be shown everything.
    var shown: Shown?
    /// The copy that the mailbox gets.
    var copy: WatchCopy
    /// Where the copy goes.
    let mailbox: WatchMailbox

    /// What a watch has been shown.
    struct Shown {
        /// The ids in their order.
        var ids: [UInt64]
        /// The posts that were created in the list until then.
        var createdCount: UInt64
    }

    /// The watched posts at a moment.
    struct Reading {
        /// The posts in their order.
        var posts: [Post]
        /// The posts that were created in the list until then.
        var createdCount: UInt64 = 0
    }

    /// Shows what has changed; nothing where nothing has.
    ///
    /// A post without a change stays as it was shown: a mark alone is none.
    mutating func show(_ reading: Reading, revision: UInt64) {
        let ids = reading.posts.map(\.id)
        var event = WatchPostsEvent()
        event.isReset = shown == nil
        event.changed = reading.posts.filter { post in
            event.isReset || copy[post.id]?.revision != post.revision
        }
        let current = Set(ids)
        event.removedIDs = shown?.ids.filter { !current.contains($0) } ?? []
        event.newPostCount = UInt32(
            clamping: reading.createdCount - (shown?.createdCount ?? reading.createdCount)
        )
        if shown?.ids != ids, request.postIDs.isEmpty { event.ranking = ids }
        guard event != WatchPostsEvent() else { return }
        copy.apply(event, revision: revision, isFirst: event.isReset)
        shown = Shown(ids: ids, createdCount: reading.createdCount)
        mailbox.put(copy)
    }
}
