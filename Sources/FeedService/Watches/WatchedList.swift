internal import FeedRanking

/// A list that connections of a loop watch, as it was when one of them was last served.
///
/// The list is read at most once a tick, for all of its watches, and not at all where nothing has
/// changed since.
final class WatchedList {
    /// The list.
    let id: WatchedListID
    /// Whether a post of the list may have ballots.
    let keepsBallots: Bool
    /// How many watches there are.
    var watchCount = 0
    /// The greatest number of posts that one of them has asked for.
    var topCount = 0
    /// The first posts of the list.
    private(set) var first = FirstPosts()
    /// What a client knows that has been sent all of them.
    private(set) var known = KnownPosts([], createdCount: 0)

    /// The tick of the last read; nil before the first.
    private var readTick: UInt64?
    /// The number of posts that were read.
    private var readCount = 0
    /// The allowance of the next try of a read.
    private var allowance = RefreshAllowance()

    /// A list that was not read yet.
    init(_ id: WatchedListID, keepsBallots: Bool) {
        self.id = id
        self.keepsBallots = keepsBallots
    }

    /// Reads the list, unless it was read in this tick or nothing has changed since.
    ///
    /// - Parameters:
    ///   - store: The posts.
    ///   - tick: The number of the tick.
    ///   - revision: The revision that the list must show at least.
    /// - Returns: Whether it was read, or the read needs more work than one loop iteration allows.
    func read(_ store: FeedStore, in tick: UInt64, showing revision: UInt64) -> Reading {
        if let readTick, readCount >= topCount {
            if readTick == tick, first.revision >= revision { return .current }
            // Posts leave a window by age, without a change.
            if id.window == nil, first.revision == store.revision { return .current }
        }
        guard
            store.readFirstPosts(
                of: id.feed,
                id.order,
                id.window,
                count: topCount,
                into: &first,
                allowance: &allowance
            )
        else {
            allowance.renew()
            return .again
        }
        allowance = RefreshAllowance()
        readTick = tick
        readCount = topCount
        let entries = first.posts.map { KnownPosts.Entry(id: $0.id, revision: $0.revision) }
        if entries != known.entries || first.createdCount != known.createdCount {
            known = KnownPosts(entries, createdCount: first.createdCount)
        }
        return .read
    }

    /// The end of a call that reads the list.
    enum Reading {
        /// The list was read.
        case read
        /// It need not be read.
        case current
        /// Call again in a later loop iteration.
        case again
    }
}
