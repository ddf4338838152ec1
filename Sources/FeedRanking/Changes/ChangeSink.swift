import Synchronization

/// Takes the changes of the store, each in the critical section that makes it.
///
/// The store calls a sink under the lock that guards the change: of the post's stripe, of the feeds,
/// of the voters or of a viewer's marks. So a sink sees the changes of a post, and the feed and the
/// voter that a change needs, in the order in which they were made. A sink returns at once, takes
/// no other lock, and calls no store.
///
/// The store borrows a sink and never copies it. The store calls it through the witness table of
/// its type: one indirect call a change, without allocation and without reference counting.
package protocol ChangeSink {
    /// Whether the sink drops all changes; the store then builds no `PostState`.
    var isNone: Bool { get }

    /// The votes of a post have changed; O(1).
    func append(_ counts: PostCounts)

    /// A voter's ballot was set, or withdrawn where nil, and the votes have changed with it; O(1).
    func append(_ counts: PostCounts, _ voter: VoterID, _ direction: VoteDirection?)

    /// A post was created, imported, edited or corrected; O(its texts).
    func append(_ post: PostState)

    /// A post was deleted for good; O(1).
    func append(deletionOf id: PostID, revision: UInt64)

    /// A feed was created; O(its name).
    func append(_ feed: FeedID, _ policy: FeedPolicy)

    /// A device has become a voter; O(1).
    func append(_ voter: VoterID, _ device: Device16)

    /// A user has become a voter; O(1).
    func append(_ voter: VoterID, user: UInt64)

    /// A viewer's marks on a post have changed; O(1).
    func append(_ marks: PostMarks)

    /// A viewer has marked all posts up to one; O(1).
    func append(_ mark: MarkThrough)
}

/// A sink that drops all changes.
package struct NoChanges: ChangeSink {
    package init() {}

    package var isNone: Bool { true }

    package func append(_ counts: PostCounts) {}
    package func append(_ counts: PostCounts, _ voter: VoterID, _ direction: VoteDirection?) {}
    package func append(_ post: PostState) {}
    package func append(deletionOf id: PostID, revision: UInt64) {}
    package func append(_ feed: FeedID, _ policy: FeedPolicy) {}
    package func append(_ voter: VoterID, _ device: Device16) {}
    package func append(_ voter: VoterID, user: UInt64) {}
    package func append(_ marks: PostMarks) {}
    package func append(_ mark: MarkThrough) {}
}

// PostCounts is public, as PostID is: the compiler would not inline a `package` initializer into other
// modules, and a replay makes one of each for a log entry.

/// The votes of a post as of a revision.
public struct PostCounts: BitwiseCopyable, Equatable, Sendable {
    /// The post.
    public var id: PostID
    /// All ups counted, or the ballots that are up.
    public var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    public var downvoteCount: UInt64
    /// The number of the post's last write of any kind, votes among them.
    public var revision: UInt64
    /// What RISING sorts by.
    ///
    /// As a change, `initial` leaves the sum of the post as it is.
    public var risingSum: RisingSum

    /// The votes of a post as of a revision.
    public init(
        id: PostID,
        upvoteCount: UInt64,
        downvoteCount: UInt64,
        revision: UInt64,
        risingSum: RisingSum = .initial
    ) {
        self.id = id
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.revision = revision
        self.risingSum = risingSum
    }
}

/// The whole state of a post, except for its voters' ballots.
package struct PostState: Equatable, Sendable {
    package var counts: PostCounts
    /// The feed it is in; never changes.
    package var feed: FeedID
    /// Whether votes set ballots instead of counting each; never changes.
    package var keepsBallots: Bool
    /// Unix time, 0 to `RankingLimits.maximumTimeMilliseconds`; changes only where it is corrected,
    /// and then with `editRevision`.
    package var createTimeMilliseconds: Int64
    /// Unix time of the last edit, within the same bounds.
    package var updateTimeMilliseconds: Int64
    /// The revision of the write that gave the post its content, at most that of the counts.
    package var editRevision: UInt64
    package var content: PostContent

    package init(
        counts: PostCounts,
        feed: FeedID,
        keepsBallots: Bool,
        createTimeMilliseconds: Int64,
        updateTimeMilliseconds: Int64,
        editRevision: UInt64,
        content: PostContent
    ) {
        self.counts = counts
        self.feed = feed
        self.keepsBallots = keepsBallots
        self.createTimeMilliseconds = createTimeMilliseconds
        self.updateTimeMilliseconds = updateTimeMilliseconds
        self.editRevision = editRevision
        self.content = content
    }
}

/// Numbers the changes of a store, and counts those that may show on a first page, feed by feed, so that a
/// page that did not change need not be read again.
///
/// A change counts under its stripe's lock, and before it takes its revision. So a reader that loads the
/// revision, then a version, then reads a page knows: as long as the version stands, the page has each change
/// up to the latest revision. A change that came before a stripe was read need not count: the page has it.
struct ChangeCounts: ~Copyable {
    /// A count each of so many feeds; others share them, which costs reads and no truth.
    private static let feedCount: UInt32 = 64

    private let latest = Atomic<UInt64>(0)
    /// The counts of feeds, and behind them that of the front page.
    private let shown = FixedSlab(count: Int(feedCount) + 1) { Atomic<UInt64>(0) }

    @inline(__always)
    var revision: UInt64 { latest.load(ordering: .acquiring) }

    /// Counts a change that may show on a first page of a feed; its revision is taken after.
    @inline(__always)
    borrowing func show(_ feed: FeedID) {
        shown[Int(feed.rawValue % Self.feedCount)].wrappingAdd(1, ordering: .acquiringAndReleasing)
        shown[Int(Self.feedCount)].wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Takes consecutive revisions; returns the last of them.
    @inline(__always)
    borrowing func take(_ count: UInt64 = 1) -> UInt64 {
        latest.wrappingAdd(count, ordering: .releasing).newValue
    }

    /// Takes the revision of a change that shows.
    borrowing func take(showing feed: FeedID) -> UInt64 {
        show(feed)
        return take()
    }

    /// Goes on from the revision of an earlier run, or shows a record of the log to a follower's readers.
    borrowing func restore(_ revision: UInt64) { latest.store(revision, ordering: .releasing) }

    /// How often a feed's first pages may have changed, or those of all feeds for nil.
    @inline(__always)
    borrowing func version(of feed: FeedID?) -> UInt64 {
        shown[Int(feed.map { $0.rawValue % Self.feedCount } ?? Self.feedCount)]
            .load(ordering: .acquiring)
    }
}
