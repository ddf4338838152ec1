/// The part of the changes that a read of one stripe asks for.
struct SyncRange {
    /// The feed; nil is all feeds.
    var feed: FeedID?
    /// Only changes with a greater revision.
    var start: UInt64
    /// Only changes up to this revision.
    var end: UInt64
    /// The most changes that are taken.
    var countLimit: Int
    /// The most changes that are looked at, those of other feeds among them.
    var scanLimit: Int

    /// Whether the changes of a feed are asked for; those of an unknown feed are.
    @inline(__always)
    func has(_ other: FeedID?) -> Bool { feed == nil || other == nil || feed == other }
}

/// The last change of a post.
struct SyncChange {
    /// The revision of the change.
    var revision: UInt64
    /// The post.
    var id: PostID
    /// Whether the post was deleted.
    var isDeletion = false
}
