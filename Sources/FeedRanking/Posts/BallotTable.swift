/// The ballots of a stripe's posts: open addressing in words of slot, voter and direction.
///
/// The table grows by half when three quarters are used, so a ballot costs 10.7 to 16 bytes. The
/// ballots of a deleted post are dropped when the table next grows. No lookup finds them until
/// then, because a slot is never used again.
package struct BallotTable: ~Copyable {
    private static let directionMask: UInt64 = 3
    private static let minimumCapacity = 16

    /// 0 is free; a word with direction 0 is a withdrawn ballot, whose place its voter may reuse.
    private var words = HugeWords(count: 0)
    private var usedCount = 0
    /// Where the words are, also for threads without the stripe's lock.
    let directory = BallotDirectory()

    /// An empty table, which takes next to no memory.
    package init() {}

    deinit { directory.free() }

    /// The ballot of a voter on a post; nil where there is none; O(1).
    package func ballot(_ slot: UInt32, _ voter: VoterID) -> VoteDirection? {
        guard words.count > 0 else { return nil }
        return Self.direction(words[place(of: Self.key(slot, voter))])
    }

    /// Sets a voter's ballot, or withdraws it with nil; returns the ballot before.
    ///
    /// O(1) on average.
    package mutating func set(
        _ direction: VoteDirection?,
        _ slot: UInt32,
        _ voter: VoterID,
        _ posts: borrowing PostTable
    ) -> VoteDirection? {
        let key = Self.key(slot, voter)
        if direction != nil, (usedCount + 1) * 4 > words.count * 3 {
            grow(posts)
        }
        guard words.count > 0 else { return nil }
        let place = place(of: key)
        let old = words[place]
        if old == 0 {
            guard let direction else { return nil }
            usedCount += 1
            words[place] = key | UInt64(direction.rawValue)
            return nil
        }
        words[place] = key | UInt64(direction?.rawValue ?? 0)
        return Self.direction(old)
    }

    /// Calls the body with each ballot on a live post; O(capacity).
    func forEach(
        _ posts: borrowing PostTable,
        _ body: (UInt32, VoterID, VoteDirection) -> Void
    ) {
        for index in 0..<words.count where Self.isLive(words[index], posts) {
            let word = words[index]
            let voter = UInt32(truncatingIfNeeded: word) >> 2 - 1
            if let direction = Self.direction(word) {
                body(UInt32(word >> 32), VoterID(rawValue: voter), direction)
            }
        }
    }

    /// The bytes the table takes.
    package var byteCount: Int { words.count * 8 }

    /// The key of a voter's ballot on the post in a slot.
    ///
    /// Never 0, which distinguishes a withdrawn ballot from a free place.
    @inline(__always)
    static func key(_ slot: UInt32, _ voter: VoterID) -> UInt64 {
        UInt64(slot) << 32 | (UInt64(voter.rawValue) + 1) << 2
    }

    private static func direction(_ word: UInt64) -> VoteDirection? {
        VoteDirection(rawValue: UInt8(truncatingIfNeeded: word & directionMask))
    }

    /// The place at which the search for a key begins in a table of so many places.
    @inline(__always)
    static func firstPlace(of key: UInt64, among count: Int) -> Int {
        // Fibonacci hashing, then a multiplication in place of a division by the capacity.
        var hash = key &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 32
        hash = hash &* 0xD6E8_FEB8_6659_FD93
        return Int(hash.multipliedFullWidth(by: UInt64(count)).high)
    }

    /// The place of a key, or the free place that it would take.
    private func place(of key: UInt64) -> Int {
        var place = Self.firstPlace(of: key, among: words.count)
        while words[place] != 0, words[place] & ~Self.directionMask != key {
            place = place + 1 == words.count ? 0 : place + 1
        }
        return place
    }

    /// Moves the ballots of live posts into a table with room for as many again.
    private mutating func grow(_ posts: borrowing PostTable) {
        var kept = 0
        for index in 0..<words.count where Self.isLive(words[index], posts) {
            kept += 1
        }
        var old = HugeWords(count: max(Self.minimumCapacity, kept * 2))
        swap(&words, &old)
        directory.set(address: words.address, count: words.count)
        usedCount = kept
        for index in 0..<old.count where Self.isLive(old[index], posts) {
            words[place(of: old[index] & ~Self.directionMask)] = old[index]
        }
    }

    private static func isLive(_ word: UInt64, _ posts: borrowing PostTable) -> Bool {
        word & directionMask != 0 && posts.contains(UInt32(truncatingIfNeeded: word >> 32))
    }
}
