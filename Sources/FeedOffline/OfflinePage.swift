public import FeedProto

/// Posts of a list in the copy, in order.
public struct OfflinePage: Sendable, Equatable {
    /// The posts, with the votes, edits and marks of the outbox.
    public var posts: [Post]
    /// The place of the first post; nil of an empty page.
    public var first: OfflinePlace?
    /// The place of the last post; nil of an empty page.
    public var last: OfflinePlace?
    /// Whether the copy has posts of the list after the last one.
    public var hasMore: Bool
    /// What becomes of the changes that rows show: votes, edits, and posts that were made here.
    ///
    /// Rows without such a change have no state, also if a mark waits.
    public var states: [PostID: OfflineRowState] = [:]
}

/// What becomes of the changes that a row shows.
public enum OfflineRowState: Sendable, Hashable {
    /// A change waits, or was sent and has no answer.
    case waiting
    /// A change was refused or is in doubt, and the program has not decided: ``OfflineFeed/outbox()``.
    case failed
}

/// A place in a list of the copy: the key of a post in the order.
///
/// It stays good when the post moves or goes: it is a place between posts then.
public struct OfflinePlace: Sendable, Hashable, Codable {
    let key: Int64
    /// The title, where the order is TOP.
    let title: String
    let id: PostID
}

/// Where a page of the copy starts.
public enum OfflineStart: Sendable, Hashable {
    /// At the first post.
    case first
    /// After a place.
    case after(OfflinePlace)
    /// Before a place: the page ends with the post before it.
    case before(OfflinePlace)
    /// With the page that has a post in its middle; at the first post where the copy has it not.
    case around(PostID)
}
