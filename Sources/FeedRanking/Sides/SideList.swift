/// A side list of a stripe: a further order of a group's posts, or one of a window.
final class SideList {
    /// The posts of its window; nil is all time.
    let queue: SideQueue?
    /// The keys of the list and the posts that are stale in it.
    var keys: SideIndex
    /// The time of the last read, in Unix milliseconds.
    var readTime: Int64

    /// A list without posts.
    init(_ list: ListID, _ queue: SideQueue?) {
        self.queue = queue
        keys = SideIndex(list.kind)
        readTime = list.readTime
    }

    /// The window; nil is all time.
    var window: Window? { queue?.window }

    /// The time after which its posts were created.
    var start: Int64 { queue?.posts.start ?? .min }

    /// Whether it is the list that is asked for.
    func isList(_ list: ListID) -> Bool {
        keys.kind == list.kind && window == list.span?.window
    }

    /// Brings the fresh posts to their places, and those of the tail too where `includingTail`;
    /// returns how many keys moved.
    func refresh(
        includingTail: Bool,
        _ id: ListID,
        _ members: borrowing SideMembers,
        _ slots: SlotKeys,
        _ headRank: Int,
        _ step: inout SideStep,
        _ pool: inout NodePool,
        _ scratch: inout SideScratch,
        _ posts: inout PostTable
    ) -> Int {
        if includingTail {
            return keys.refreshTail(
                id,
                members,
                slots,
                headRank,
                &step,
                &pool,
                &scratch,
                &posts
            )
        }
        return keys.refresh(id, members, slots, headRank, &step, &pool, &scratch, &posts)
    }
}
