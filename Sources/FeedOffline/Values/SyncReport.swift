/// What a sync has done.
public struct SyncReport: Sendable, Equatable {
    /// Entries of the outbox that the service has executed.
    public package(set) var sentCount = 0
    /// Entries that it refused.
    public package(set) var failedCount = 0
    /// Entries that are in doubt, also since earlier syncs.
    public package(set) var inDoubtCount = 0
    /// Entries that still wait, or are to be sent again.
    public package(set) var leftCount = 0
    /// Those among them that wait for another account than the one that has signed in.
    public package(set) var otherUserCount = 0
    /// Posts that are new or changed.
    public package(set) var changedPostCount = 0
    /// Posts that were removed.
    public package(set) var removedPostCount = 0
    /// Whether a copy was begun anew, as the first one is.
    public package(set) var isReset = false

    /// The report of a sync that has done nothing yet.
    package init() {}
}
