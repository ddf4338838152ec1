public import FeedClient

/// Where an offline feed has its file, and which service it follows.
public struct OfflineConfiguration: Sendable {
    /// The path of the file; SQLite keeps `<path>-wal` beside it.
    public var path: String
    /// The addresses of the service, as `FeedClient.connect(to:configuration:)` takes them.
    public var addresses: [String]
    /// How the client introduces itself.
    ///
    /// The client id is the file's: the first opening stores the one given here, or draws one. The channel
    /// is the file's too. The session is that of the `sessionStore`, which also says whose changes the
    /// outbox takes without a network; a `sessionToken` has to be nil. Watches, `connectionCount` and
    /// `channel` of the configuration do not count.
    public var client = ClientConfiguration()
    /// The feeds to keep a copy of; the empty name, alone, is all feeds.
    public var feeds: [String] = [""]
    /// Which posts of each feed stay in the copy.
    public var keeps = KeptPosts.newest(2_000)
    /// The most entries of the outbox.
    public var maximumOutboxCount = 10_000

    /// An offline feed of all feeds of the service at an address.
    public init(path: String, address: String = FeedClient.defaultAddress) {
        self.path = path
        addresses = [address]
    }

    /// The feeds, without those that the copy of all feeds has.
    var copiedFeeds: [String] { feeds.contains("") ? [""] : Array(Set(feeds)).sorted() }
}

/// Which posts of each feed a copy keeps.
///
/// Posts that entries of the outbox name stay too.
public enum KeptPosts: Sendable, Hashable {
    /// The newest posts of the feed, as many as are named, and the first 100 of its lists TOP and HOT and
    /// of its default order; of each no more than the number.
    ///
    /// A sync reads these alone, the first rows of each list before the others. Older posts leave.
    case newest(Int)
    /// All posts, however many the feed has.
    case all
}

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
    /// Posts that have left the copy: they were deleted, or are older than those that it keeps.
    public package(set) var removedPostCount = 0
    /// Whether a copy was begun anew, as the first one is.
    public package(set) var isReset = false

    package init() {}
}
