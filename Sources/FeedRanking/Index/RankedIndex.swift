/// One order of one feed's posts in a stripe: a counted B+tree of packed keys.
///
/// Ascending keys are the order of the list. The value itself is trivial. Its nodes live in the
/// stripe's `NodePool`, so thousands of small feeds are cheap.
///
/// Invariants (`checkInvariants`): keys ascend; all leaves have one depth and are chained in order;
/// each place of an inner node has its child's first key and key count; no node is empty.
///
/// See Bayer and Unterauer, "Prefix B-trees" (1977), for the shape, and redis's `zslUpdateScore`
/// for the change in place.
package struct RankedIndex: BitwiseCopyable {
    /// A node with fewer keys than this is merged with a neighbour or filled from it.
    static let minimumNodeCount = 16

    /// The node above all keys; none while the index is empty.
    var root = NodeID.none
    /// The levels of inner nodes above the leaves.
    var height = 0
    package internal(set) var count = 0
    /// Whether a reader has asked for this order, so that it is kept.
    package var isBuilt = false
    /// The end of the list's head; the keys behind it are the list's tail.
    var headBoundary = HeadBoundary.lowest

    /// An empty index, which counts as not built.
    package init() {}

    /// The boundary of a list's head: the first two parts of a key.
    struct HeadBoundary: BitwiseCopyable, Equatable {
        var primary: UInt64
        var secondary: UInt64

        /// No key comes behind it.
        static let lowest = HeadBoundary(primary: .max, secondary: .max)

        /// Whether the key lies at the boundary or before it.
        @inline(__always)
        func covers(_ key: RankKey) -> Bool {
            key.primary < primary || (key.primary == primary && key.secondary <= secondary)
        }
    }

    /// Moves the head boundary to the key of a rank; moves it down only where `mayLower`.
    ///
    /// `mayLower` must be false while a post waits in the stale tail. O(log n).
    package mutating func moveHeadBoundary(
        to rank: Int,
        _ pool: borrowing NodePool,
        mayLower: Bool
    ) {
        var boundary = HeadBoundary.lowest
        if rank < count {
            let key = pool.key(position(atRank: rank, pool))
            boundary = HeadBoundary(primary: key.primary, secondary: key.secondary)
        }
        let isHigher =
            boundary.primary < headBoundary.primary
            || (boundary.primary == headBoundary.primary
                && boundary.secondary < headBoundary.secondary)
        if mayLower || isHigher {
            headBoundary = boundary
        }
    }

    /// Forgets all nodes, which an earlier copy of the index keeps; O(1).
    mutating func forgetKeys() {
        root = .none
        height = 0
        count = 0
    }

    /// Frees all nodes and forgets all keys; O(n).
    package mutating func removeAll(_ pool: inout NodePool) {
        if root != .none {
            Self.free(root, height, &pool)
        }
        root = .none
        height = 0
        count = 0
    }

    /// Frees a node and all nodes below it.
    static func free(_ node: NodeID, _ height: Int, _ pool: inout NodePool) {
        if height > 0 {
            for index in 0..<pool.count(node) {
                free(pool.child(node, index), height - 1, &pool)
            }
        }
        pool.freeNode(node)
    }
}
