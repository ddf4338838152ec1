/// The part of a split list that is not merged into the list's index.
///
/// All keys of the merge lie behind the index's last key.
package struct ListMerge: ~Copyable {
    /// The keys that the list had before the split, and keys that were inserted since.
    var back: RankedIndex
    /// The new keys of the job's posts, sorted.
    private let keys: Slab<RankKey>
    /// The place in `keys` of the first key that is not merged.
    private var nextKey = 0

    /// The merge of a list that was just split.
    init(back: RankedIndex, keys: consuming Slab<RankKey>) {
        self.back = back
        self.keys = keys
    }

    /// Whether all keys are merged.
    var isComplete: Bool { back.count == 0 && nextKey == keys.count }

    /// Merges whole leaves into the index until so many keys are merged, or all; O(keys merged).
    ///
    /// New keys of posts that are not in `members` are left out. So are old keys of the members
    /// where `dropsOldKeys`.
    mutating func merge(
        _ limit: Int,
        _ members: borrowing SlotSet,
        _ dropsOldKeys: Bool,
        into index: inout RankedIndex,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        var appender = LeafAppender()
        let countBefore = index.count
        while index.count - countBefore < limit {
            let leaf = back.takeFirstLeaf(&pool)
            guard leaf != .none else { break }
            if dropsOldKeys {
                _ = pool.compact(leaf, dropping: members)
            }
            mergeLeaf(leaf, members, &appender, &index, &pool, posts)
        }
        if back.count == 0 {
            while let key = nextKey(members) {
                appender.append(key, to: &index, &pool)
                nextKey += 1
            }
        }
        appender.finish(&index, &pool)
    }

    private mutating func mergeLeaf(
        _ leaf: NodeID,
        _ members: borrowing SlotSet,
        _ appender: inout LeafAppender,
        _ index: inout RankedIndex,
        _ pool: inout NodePool,
        _ posts: borrowing PostTable
    ) {
        let count = pool.count(leaf)
        var written = 0
        while let key = nextKey(members) {
            let place = pool.place(of: key, in: leaf, from: written, posts)
            appender.append(leaf, written..<place, to: &index, &pool)
            written = place
            if place == count { break }
            appender.append(key, to: &index, &pool)
            nextKey += 1
        }
        appender.append(leaf, written..<count, to: &index, &pool)
        pool.freeNode(leaf)
    }

    /// The next new key of a post in `members`.
    private mutating func nextKey(_ members: borrowing SlotSet) -> RankKey? {
        while nextKey < keys.count {
            let key = keys[nextKey]
            if members.bit(key.slot) == 1 { return key }
            nextKey += 1
        }
        return nil
    }
}
