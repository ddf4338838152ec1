/// The ids and the keys of a stripe's posts, computed from their slots.
///
/// The low bits of an id are its stripe, and the other bits are its slot.
struct SlotKeys: BitwiseCopyable {
    /// The low bits of the posts' ids.
    let stripeNumber: UInt64
    /// The number of low bits of an id that are not its slot.
    let stripeBits: UInt64

    @inline(__always)
    func id(_ slot: UInt32) -> PostID {
        PostID(rawValue: UInt64(slot) << stripeBits | stripeNumber)
    }

    /// The slot of an id of this stripe; nil where it lies beyond any slot.
    @inline(__always)
    func slot(_ id: PostID) -> UInt32? { UInt32(exactly: id.rawValue >> stripeBits) }

    /// The first slot whose id is at least an id of any stripe.
    private func firstSlot(atOrBehind id: UInt64) -> UInt32 {
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

    // The places of posts in an order, computed from their records without an index.
    //
    // They are functions of `SlotKeys` and not of `StandingLists`, because `SlotKeys` is cheap to copy.
    // Swift 6.3 copies a noncopyable value for each call that does not change it, where the caller
    // holds it `inout`.

    /// The place that a post has in an order, or will have after a refresh.
    func position(of slot: UInt32, _ kind: KeyKind, _ posts: borrowing PostTable) -> ListPosition {
        position(of: key(kind, slot, posts[slot]), posts)
    }

    /// The key just before which a walk begins; nil for an end of the list.
    func probe(_ walk: ListWalk, _ posts: inout PostTable) -> RankKey? {
        switch walk.start {
        case .end:
            return nil
        case .position(let position, let isIncluded):
            return probe(position, isBehind: walk.isDescending == isIncluded, &posts)
        case .entry(let entry):
            return probe(position(of: entry, posts), isBehind: !walk.isDescending, &posts)
        }
    }

    /// A key that lies just before a place of the list, or just behind it.
    func probe(_ position: ListPosition, isBehind: Bool, _ posts: inout PostTable) -> RankKey {
        posts.setProbeTitle(position.title.span)
        let bound = position.id.rawValue &+ (isBehind ? 1 : 0)
        return RankKey(
            primary: position.primary,
            secondary: position.secondary,
            slot: firstSlot(atOrBehind: bound),
            isProbe: true
        )
    }

    /// The place of an entry, with its full title where the title decides.
    func position(of entry: MergeEntry, _ posts: borrowing PostTable) -> ListPosition {
        var title: [UInt8] = []
        if RankKey.titleDecides(entry.secondary) { appendTitle(of: entry, to: &title, posts) }
        return ListPosition(entry, title: title)
    }

    /// Appends the title of an entry's post, or where that has changed what the key has of it.
    func appendTitle(of entry: MergeEntry, to titles: inout [UInt8], _ posts: borrowing PostTable) {
        if let slot = slot(entry.id), posts.contains(slot),
            posts[slot].titlePrefix == entry.secondary
        {
            posts[slot].content.appendTitle(to: &titles)
        } else {
            titles.append(contentsOf: RankKey.titleBytes(prefix: entry.secondary))
        }
    }

    func position(of key: RankKey, _ posts: borrowing PostTable) -> ListPosition {
        let title = RankKey.titleDecides(key.secondary) ? posts[key.slot].content.titleBytes : []
        return ListPosition(
            primary: key.primary,
            secondary: key.secondary,
            id: id(key.slot),
            title: title
        )
    }
}
