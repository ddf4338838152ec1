/// What has changed in an offline feed since the change before.
///
/// A reader that is slow gets several changes as one. Its memory is bounded: beyond
/// ``maximumPostCount`` posts ``isEverything`` says to read all lists again.
public struct OfflineChange: Sendable, Equatable {
    /// The most posts that a change names.
    public static var maximumPostCount: Int { 1_000 }

    /// Posts that are new or have other contents, counts or marks.
    public private(set) var changedPosts: Set<UInt64> = []
    /// Posts that are in no list any more.
    public private(set) var removedPosts: Set<UInt64> = []
    /// Posts that were made here and have got their id: the local id, and the service's.
    public private(set) var sentPosts: [UInt64: UInt64] = [:]
    /// Whether entries of the outbox came, went or have another state.
    public internal(set) var hasOutboxChanged = false
    /// Whether more has changed than is named: read all lists again.
    public internal(set) var isEverything = false
    /// What to tell the person about the file; nil where nothing happened.
    public internal(set) var notice: OfflineNotice?

    var isEmpty: Bool { self == OfflineChange() }

    init() {}

    mutating func change(_ id: UInt64) {
        removedPosts.remove(id)
        changedPosts.insert(id)
        bound()
    }

    mutating func remove(_ id: UInt64) {
        changedPosts.remove(id)
        removedPosts.insert(id)
        bound()
    }

    mutating func replace(_ localID: UInt64, by id: UInt64) {
        changedPosts.remove(localID)
        sentPosts[localID] = id
        change(id)
    }

    /// Adds a later change.
    mutating func merge(_ later: OfflineChange) {
        for (local, id) in later.sentPosts { replace(local, by: id) }
        for id in later.changedPosts { change(id) }
        for id in later.removedPosts { remove(id) }
        hasOutboxChanged = hasOutboxChanged || later.hasOutboxChanged
        isEverything = isEverything || later.isEverything
        notice = later.notice ?? notice
        bound()
    }

    private mutating func bound() {
        guard
            isEverything
                || changedPosts.count + removedPosts.count + sentPosts.count > Self.maximumPostCount
        else { return }
        isEverything = true
        changedPosts = []
        removedPosts = []
        sentPosts = [:]
    }
}
