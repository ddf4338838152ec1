/// For services: changes as `PostFields`, with the fields of `SyncPostsResponse` beside its posts.
public struct SyncPostsFields: Equatable, Sendable {
    /// As in `SyncPostsResponse`.
    public var nextRevision: UInt64
    /// As in `SyncPostsResponse`.
    public var hasMore = false
    /// As in `SyncPostsResponse`.
    public var isReset = false
    /// As in `SyncPostsResponse`.
    public var copyRevision: UInt64 = 0
    /// As in `SyncPostsResponse`.
    public var instanceID: UInt64

    /// The last page of changes up to a revision.
    public init(nextRevision: UInt64, instanceID: UInt64) {
        self.nextRevision = nextRevision
        self.instanceID = instanceID
    }
}
