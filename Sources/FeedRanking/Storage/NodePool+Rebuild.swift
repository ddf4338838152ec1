/// What a rebuild does to every key of an index, with a leaf's address taken once.
extension NodePool {
    /// Closes the gaps of a leaf's keys whose slots are in a set; returns how many keys stay.
    mutating func compact(_ leaf: NodeID, dropping dropped: borrowing SlotSet) -> Int {
        let keys = unsafe keys(leaf)
        var kept = 0
        for index in 0..<min(count(leaf), Self.leafCapacity) {
            let key = unsafe keys[index]
            unsafe keys[kept] = key
            // No branch: which keys go cannot be predicted.
            kept &+= 1 &- dropped.bit(key.slot)
        }
        setCount(leaf, kept)
        return kept
    }

    /// The first place of a leaf, from `start` on, whose key comes behind `key`.
    func place(
        of key: RankKey,
        in leaf: NodeID,
        from start: Int,
        _ posts: borrowing PostTable
    ) -> Int {
        let keys = unsafe keys(leaf)
        let count = min(count(leaf), Self.leafCapacity)
        var place = max(start, 0)
        while place < count, posts.precedes(unsafe keys[place], key) {
            place &+= 1
        }
        return place
    }
}
