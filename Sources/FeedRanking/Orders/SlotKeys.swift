/// The ids and the keys of a stripe's posts, computed from their slots.
///
/// The low bits of an id are its stripe, and the other bits are its slot.
struct SlotKeys: BitwiseCopyable {
    /// The low bits of the posts' ids.
    let stripeNumber: UInt64
    /// The number of low bits of an id that are not its slot.
    let stripeBits: UInt64

    /// The id of the post in a slot.
    @inline(__always)
    func id(_ slot: UInt32) -> PostID {
        PostID(rawValue: UInt64(slot) << stripeBits | stripeNumber)
    }

    /// The slot of an id of this stripe; nil where it lies beyond any slot.
    @inline(__always)
    func slot(_ id: PostID) -> UInt32? {
        UInt32(exactly: id.rawValue >> stripeBits)
    }

    /// The first slot whose id is at least an id of any stripe.
    func firstSlot(atOrBehind id: UInt64) -> UInt32 {
        guard id > stripeNumber else { return 0 }
        return UInt32(clamping: (id - stripeNumber - 1) >> stripeBits + 1)
    }

    /// A post's key in an order, at a score.
    @inline(__always)
    func key(_ kind: IndexKind, _ slot: UInt32, _ record: PostRecord, _ score: Int64) -> RankKey {
        key(kind, slot, record.titlePrefix, record.createTimeMilliseconds, score)
    }

    /// A stale post's key in an order, at its old score or its new one.
    @inline(__always)
    func key(_ kind: IndexKind, _ post: StalePost, _ score: Int64) -> RankKey {
        key(kind, post.slot, post.titlePrefix, post.createTimeMilliseconds, score)
    }

    @inline(__always)
    private func key(
        _ kind: IndexKind,
        _ slot: UInt32,
        _ titlePrefix: UInt64,
        _ createTimeMilliseconds: Int64,
        _ score: Int64
    ) -> RankKey {
        switch kind {
        case .top:
            return RankKey(
                primary: RankKey.descending(score),
                secondary: titlePrefix,
                slot: slot
            )
        case .new:
            return RankKey(
                primary: RankKey.descending(createTimeMilliseconds),
                secondary: RankKey.newestFirst(id(slot)),
                slot: slot
            )
        case .hot:
            let time = createTimeMilliseconds
            let rank = HotRank.key(score: score, createTimeMilliseconds: time)
            return RankKey(primary: RankKey.descending(rank), secondary: 0, slot: slot)
        }
    }

    /// A post's key in an order, with its votes and its comments as they are; O(1).
    @inline(__always)
    func key(_ kind: KeyKind, _ slot: UInt32, _ record: PostRecord) -> RankKey {
        if let index = kind.index { return key(index, slot, record, record.score) }
        return RankKey(primary: sidePrimary(kind, record), secondary: 0, slot: slot)
    }

    /// The first part of a key that no index of `StripeOrders` has.
    private func sidePrimary(_ kind: KeyKind, _ record: PostRecord) -> UInt64 {
        switch kind {
        case .best:
            let (ups, downs) = (record.upvoteCount, record.downvoteCount)
            let value = ConfidenceRank.value(upvoteCount: ups, downvoteCount: downs)
            return RankKey.descending(notNegative: value)
        case .controversial:
            let (ups, downs) = (record.upvoteCount, record.downvoteCount)
            let value = ControversyRank.value(upvoteCount: ups, downvoteCount: downs)
            return RankKey.descending(notNegative: value)
        case .rising:
            return record.risingKey
        case .discussed:
            return ~min(record.content.commentCount, .max - 1)
        case .top, .new, .hot:
            preconditionFailure("The index of \(kind) has a key of its own.")
        }
    }
}
