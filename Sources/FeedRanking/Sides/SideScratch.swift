/// A member whose key changes; a key with the first part 0 is none.
struct SideMove: BitwiseCopyable {
    var member: UInt32
    var old: RankKey
    var new: RankKey
}

/// The working memory of a refresh of side lists, kept between refreshes.
///
/// Between two refreshes no bit of `dropped` is set; the other parts have no meaning.
struct SideScratch: ~Copyable {
    /// The members whose keys change.
    var moves = Slab<SideMove>()
    /// The new keys.
    var keys = Slab<RankKey>()
    /// The working memory of the sort of `keys`.
    var sorter = KeySort()
    /// The slots whose old keys a rebuild drops.
    var dropped = SlotSet()

    /// Frees the memory that grows with a refresh, where it was a large one.
    mutating func freeLargeMemory() {
        guard moves.count > RankingLimits.refreshMemoryCount else { return }
        moves = Slab()
        keys = Slab()
        sorter = KeySort()
    }
}
