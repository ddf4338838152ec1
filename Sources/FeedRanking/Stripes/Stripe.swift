/// A share of the posts, with their orders and ballots; the holder of its lock owns it.
///
/// A vote changes the record of its post and makes the post stale in the orders, once.
///
/// Functions that do not change the stripe are always inlined. A call would copy the whole stripe
/// first: Swift 6.3 does so where the caller holds it `inout`, as each holder of its lock does.
package struct Stripe: ~Copyable {
    /// The posts, and what their lists share.
    var pass: ListPass
    /// TOP, NEW and HOT of all time, which are never dropped.
    var standing = StandingLists()
    /// The lists of further orders and of windows.
    var sides = SideLists()
    /// The ballots on posts of feeds that keep them.
    var ballots = BallotTable()
    /// The posts that recovery has deleted; no older change may bring them back.
    var deleted = SlotSet()
    /// The posts in the order of their last changes, where somebody reads it.
    var sync = SyncOrder()
    /// The posts that were deleted not long ago.
    var tombstones = Tombstones()

    /// An empty stripe of a store with 2 to the power of `stripeBits` stripes.
    package init(number: Int, stripeBits: Int, pace: RefreshPace = RefreshPace()) {
        let slots = SlotKeys(stripeNumber: UInt64(number), stripeBits: UInt64(stripeBits))
        pass = ListPass(slots, pace)
    }

    /// The ids of the posts by slot, and the slots by id.
    var slots: SlotKeys { @inline(__always) get { pass.slots } }

    /// The records by slot, and the texts that they own.
    var posts: PostTable {
        @inline(__always) _read { yield pass.posts }
        @inline(__always) _modify { yield &pass.posts }
    }

    /// The slot of a live post; nil where the id has none.
    @inline(__always)
    func liveSlot(_ id: PostID) -> UInt32? {
        guard let slot = slots.slot(id), posts.contains(slot) else { return nil }
        return slot
    }

    /// Whether so many posts are stale that a read should not have to refresh them.
    var refreshIsDue: Bool {
        @inline(__always) get {
            standing.refreshIsDue(pass.pace, postCount: pass.posts.count)
        }
    }

    /// A post's votes as a change; O(1).
    @inline(__always)
    func counts(_ slot: UInt32, _ record: PostRecord) -> PostCounts {
        PostCounts(
            id: slots.id(slot),
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            revision: record.revision,
            risingSum: record.risingSum
        )
    }

    /// A whole post as a change, with its content if the caller has it at hand; O(its texts).
    @inline(__always)
    func state(_ slot: UInt32, _ content: PostContent? = nil) -> PostState {
        let record = posts[slot]
        return PostState(counts(slot, record), record, content)
    }

    /// The bytes of a post's texts, which decide whether a page still takes it.
    @inline(__always)
    func textByteCount(_ slot: UInt32) -> Int { posts[slot].content.textByteCount }

    /// The bytes of the texts of a slot's post; nil where the slot has none.
    func liveTextByteCount(_ slot: UInt32) -> Int? {
        posts.contains(slot) ? textByteCount(slot) : nil
    }
}

extension PostState {
    /// A post with all fields of its record, and with its content if the caller has it at hand.
    fileprivate init(_ counts: PostCounts, _ record: PostRecord, _ content: PostContent?) {
        self.init(
            counts: counts,
            feed: record.feed,
            keepsBallots: record.flags.contains(.keepsBallots),
            createTimeMilliseconds: record.createTimeMilliseconds,
            updateTimeMilliseconds: record.content.updateTimeMilliseconds,
            editRevision: record.content.editRevision,
            content: content ?? record.content.content
        )
    }
}
