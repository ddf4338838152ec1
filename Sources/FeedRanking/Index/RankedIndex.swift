/// One order of one feed's posts in a stripe: a counted B+tree of packed keys.
///
/// Ascending keys are the order of the list. The value itself is trivial; its nodes live in the
/// stripe's `NodePool`, so thousands of small feeds are cheap. Invariants
/// (`checkInvariants`): keys ascend; all leaves have one depth and are chained in order; each place
/// of an inner node has its child's first key and key count; no node is empty.
///
/// See Bayer and Unterauer, "Prefix B-trees" (1977), for the shape, and redis's `zslUpdateScore`
/// for the change in place.
package struct RankedIndex: BitwiseCopyable {
    /// Below this many keys a node is merged with a neighbour or filled from it.
    static let minimumNodeCount = 16

    /// The node above all keys; none while the index is empty.
    var root = NodeID.none
    /// The levels of inner nodes above the leaves.
    var height = 0
    package internal(set) var count = 0
    /// Whether somebody asked for this order, so that it is kept.
    package var isBuilt = false
    /// What comes behind it is far from the list's start.
    var floor = Floor.lowest

    /// An empty index, which counts as not built.
    package init() {}

    /// A bound in the order of keys: the first two parts of one.
    struct Floor: BitwiseCopyable, Equatable {
        var primary: UInt64
        var secondary: UInt64

        /// Nothing comes behind it.
        static let lowest = Floor(primary: .max, secondary: .max)

        /// Whether the key lies at the floor or before it.
        @inline(__always)
        func covers(_ key: RankKey) -> Bool {
            key.primary < primary || (key.primary == primary && key.secondary <= secondary)
        }
    }

    /// Moves the floor to the key of a rank; down only where nothing far is waiting.
    ///
    /// O(log n).
    package mutating func moveFloor(to rank: Int, _ pool: borrowing NodePool, mayLower: Bool) {
        var floor = Floor.lowest
        if rank < count {
            let key = pool.key(position(atRank: rank, pool))
            floor = Floor(primary: key.primary, secondary: key.secondary)
        }
        let isHigher =
            floor.primary < self.floor.primary
            || (floor.primary == self.floor.primary && floor.secondary < self.floor.secondary)
        if mayLower || isHigher {
            self.floor = floor
        }
    }

    /// Leaves all nodes to a copy of the index that was taken before; O(1).
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

    /// Gives back a node and all below it.
    static func free(_ node: NodeID, _ height: Int, _ pool: inout NodePool) {
        if height > 0 {
            for index in 0..<pool.count(node) {
                free(pool.child(node, index), height - 1, &pool)
            }
        }
        pool.freeNode(node)
    }
}
