import Synchronization

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
    private let shown = InlineArray<65, Atomic<UInt64>> { _ in Atomic(0) }

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

    /// Goes on from the revision of an earlier run.
    borrowing func restore(_ revision: UInt64) { latest.store(revision, ordering: .releasing) }

    /// How often a feed's first pages may have changed, or those of all feeds for nil.
    @inline(__always)
    borrowing func version(of feed: FeedID?) -> UInt64 {
        shown[Int(feed.map { $0.rawValue % Self.feedCount } ?? Self.feedCount)]
            .load(ordering: .acquiring)
    }
}
