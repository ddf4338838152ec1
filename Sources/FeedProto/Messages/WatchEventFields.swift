/// For services: the fields of `WatchPostsEvent` beside its posts.
public struct WatchEventFields: Equatable, Sendable {
    /// As in `WatchPostsEvent`.
    public var ranking: [UInt64] = []
    /// As in `WatchPostsEvent`.
    public var removedIDs: [UInt64] = []
    /// As in `WatchPostsEvent`.
    public var newPostCount: UInt32 = 0
    /// As in `WatchPostsEvent`.
    public var isReset = false

    /// An event without anything but posts.
    public init() {}
}
