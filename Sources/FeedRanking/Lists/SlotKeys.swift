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
    func slot(_ id: PostID) -> UInt32? { UInt32(exactly: id.rawValue >> stripeBits) }

    /// The first slot whose id is at least an id of any stripe.
    func firstSlot(atOrBehind id: UInt64) -> UInt32 {
        guard id > stripeNumber else { return 0 }
        return UInt32(clamping: (id - stripeNumber - 1) >> stripeBits + 1)
    }

    /// A stale post's key in a standing list, at its old score or its new one.
    @inline(__always)
    func key(_ kind: KeyKind, _ post: StalePost, at score: Int64) -> RankKey {
        switch kind {
        case .top:
            let primary = RankKey.descending(score)
            return RankKey(primary: primary, secondary: post.titlePrefix, slot: post.slot)
        case .new:
            let primary = RankKey.descending(post.createTimeMilliseconds)
            let secondary = RankKey.newestFirst(id(post.slot))
            return RankKey(primary: primary, secondary: secondary, slot: post.slot)
        case .hot:
            let time = post.createTimeMilliseconds
            let rank = HotRank.key(score: score, createTimeMilliseconds: time)
            return RankKey(primary: RankKey.descending(rank), secondary: 0, slot: post.slot)
        case .best, .controversial, .rising, .discussed:
            preconditionFailure("A list of \(kind) does not stand.")
        }
    }

    /// A post's key in an order, with its votes and its comments as they are; O(1).
    @inline(__always)
    func key(_ kind: KeyKind, _ slot: UInt32, _ record: PostRecord) -> RankKey {
        if kind.isStanding { return key(kind, StalePost(slot, record), at: record.score) }
        return RankKey(primary: sidePrimary(kind, record), secondary: 0, slot: slot)
    }

    /// The first part of a key that no standing list has.
    private func sidePrimary(_ kind: KeyKind, _ record: PostRecord) -> UInt64 {
        let (ups, downs) = (record.upvoteCount, record.downvoteCount)
        switch kind {
        case .best:
            let value = ConfidenceRank.value(upvoteCount: ups, downvoteCount: downs)
            return RankKey.descending(notNegative: value)
        case .controversial:
            let value = ControversyRank.value(upvoteCount: ups, downvoteCount: downs)
            return RankKey.descending(notNegative: value)
        case .rising:
            return record.risingKey
        case .discussed:
            return ~min(record.content.commentCount, .max - 1)
        case .top, .new, .hot:
            preconditionFailure("A standing list of \(kind) has a key of its own.")
        }
    }
}
