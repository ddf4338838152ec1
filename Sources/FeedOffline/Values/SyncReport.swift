/// What a sync has done.
public struct SyncReport: Sendable, Equatable {
    /// Entries of the outbox that the service has executed.
    public internal(set) var sentCount = 0
    /// Entries that it refused.
    public internal(set) var failedCount = 0
    /// Entries that are in doubt, also since earlier syncs.
    public internal(set) var inDoubtCount = 0
    /// Entries that still wait, or are to be sent again.
    public internal(set) var leftCount = 0
    /// Those among them that wait for another account than the one that has signed in.
    public internal(set) var otherUserCount = 0
    /// Posts that are new or changed.
    public internal(set) var changedPostCount = 0
    /// Posts that were removed.
    public internal(set) var removedPostCount = 0
    /// Whether a copy was begun anew, as the first one is.
    public internal(set) var isReset = false

    init() {}
}
