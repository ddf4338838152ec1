/// The posts of a stripe in the order of their last changes, for readers that keep a copy.
///
/// Nobody reads most services so. The order exists from its first read on, until nobody has read it
/// for `RankingLimits.syncIdleTime`. A change then puts its post into `changed`, once until the next
/// read, and the read moves the changed posts to the end. So without a reader a change only looks at
/// `isKept`, and a post that is voted on a thousand times between two reads moves once.
///
/// Invariants (`checkInvariants`): The revisions of the entries rise. While the order is kept, each
/// post is in `changed` and has its flag, or it has an entry with its revision. All other entries are
/// void: their posts have changed since, or are gone.
struct SyncOrder: ~Copyable {
    /// A post as of one of its changes.
    struct Entry: BitwiseCopyable, RevisionEntry {
        var revision: UInt64
        var slot: UInt32
    }

    /// The entries beyond twice the number of posts at which the void ones are removed.
    private static let spareEntryCount = 1_024

    /// Whether the order exists.
    private(set) var isKept = false
    /// The posts that have changed since the last read; some may have been deleted since.
    private var changed = Slab<UInt32>()
    /// The entries; no revision of a post in `changed` is below one of them.
    private var entries: [Entry] = []
    /// The time of the last read, in Unix milliseconds.
    private var readTime: Int64 = 0

    init() {}

    /// Notes a change of a post; O(1).
    @inline(__always)
    mutating func note(_ slot: UInt32, _ record: inout PostRecord) {
        guard isKept, !record.flags.contains(.isChanged) else { return }
        record.flags.insert(.isChanged)
        changed.append(slot)
    }

    /// Brings the order up to date for a read; false when the allowance is used up.
    ///
    /// O(changed posts), and O(n log n) where the order does not exist yet.
    mutating func update(
        at time: Int64,
        _ allowance: inout RefreshAllowance,
        _ posts: inout PostTable
    ) -> Bool {
        let count = isKept ? changed.count : posts.count
        if count > 0 {
            guard !allowance.isUsedUp else { return false }
            allowance.charge(count)
        }
        if isKept { moveChanged(&posts) } else { build(posts) }
        readTime = time
        return true
    }

    private mutating func build(_ posts: borrowing PostTable) {
        isKept = true
        var built: [Entry] = []
        built.reserveCapacity(posts.count)
        posts.forEachSlot { built.append(Entry(revision: posts[$0].revision, slot: $0)) }
        built.sort { $0.revision < $1.revision }
        entries = built
    }

    private mutating func moveChanged(_ posts: inout PostTable) {
        var moved: [Entry] = []
        moved.reserveCapacity(changed.count)
        for place in 0..<changed.count where posts.contains(changed[place]) {
            let slot = changed[place]
            posts[slot].flags.remove(.isChanged)
            moved.append(Entry(revision: posts[slot].revision, slot: slot))
        }
        changed.removeAll()
        moved.sort { $0.revision < $1.revision }
        entries += moved
        if entries.count > 2 * posts.count + Self.spareEntryCount { removeVoid(posts) }
    }

    /// Removes the void entries; O(entries).
    private mutating func removeVoid(_ posts: borrowing PostTable) {
        var count = 0
        for place in entries.indices where isValid(entries[place], posts) {
            entries[count] = entries[place]
            count += 1
        }
        entries.removeLast(entries.count - count)
    }

    /// Appends posts whose last changes are in a range of revisions, in their order; returns the revision up
    /// to which no post is left out.
    ///
    /// O(log n + entries looked at). The order must be up to date.
    func collect(
        _ range: SyncRange,
        _ slots: SlotKeys,
        _ posts: borrowing PostTable,
        into changes: inout [SyncChange]
    ) -> UInt64 {
        range.collect(entries, into: &changes) { entry in
            guard isValid(entry, posts), range.has(posts[entry.slot].feed) else { return nil }
            return SyncChange(revision: entry.revision, id: slots.id(entry.slot))
        }
    }

    /// Gives the order up where nobody has read it for long; O(changed posts).
    mutating func dropIfIdle(at time: Int64, _ posts: inout PostTable) {
        guard isKept, readTime < time - RankingLimits.syncIdleTime else { return }
        for place in 0..<changed.count where posts.contains(changed[place]) {
            posts[changed[place]].flags.remove(.isChanged)
        }
        self = SyncOrder()
    }

    @inline(__always)
    private func isValid(_ entry: Entry, _ posts: borrowing PostTable) -> Bool {
        posts.contains(entry.slot) && posts[entry.slot].revision == entry.revision
    }

    /// Traps where an invariant of the type does not hold; O(n).
    func checkInvariants(_ posts: borrowing PostTable) {
        guard isKept else {
            precondition(changed.count == 0 && entries.isEmpty, "An order of nobody has posts.")
            return
        }
        var listed = SlotSet()
        listed.reserve(posts.slotLimit)
        for place in 0..<changed.count where posts.contains(changed[place]) {
            let isMarked = posts[changed[place]].flags.contains(.isChanged)
            precondition(isMarked, "A changed post lacks its flag.")
            listed.insert(changed[place])
        }
        for place in entries.indices {
            if place > 0 {
                let rises = entries[place - 1].revision < entries[place].revision
                precondition(rises, "The order of changes falls.")
            }
            if isValid(entries[place], posts) { listed.insert(entries[place].slot) }
        }
        posts.forEachSlot { slot in
            precondition(listed.contains(slot), "The order of changes lacks a post.")
        }
    }
}

/// The deletions of a stripe that readers which keep a copy may still have to learn, for
/// `RankingLimits.tombstoneLifetime`.
///
/// The oldest are forgotten first. `knownSince` then rises: a reader that has not come so far can
/// no longer learn what it has missed, and begins a new copy.
struct Tombstones: ~Copyable {
    struct Tombstone: BitwiseCopyable, RevisionEntry {
        var revision: UInt64
        var slot: UInt32
        /// The feed that the post was in; nil where recovery does not know it.
        var feed: FeedID?
        var time: Int64
    }

    /// The deletions in the order of their revisions, behind `first` forgotten ones.
    private var deletions: [Tombstone] = []
    private var first = 0
    /// Whether recovery has put deletions back in another order, or twice.
    private var isUnsorted = false
    /// Every later deletion is kept.
    private(set) var knownSince: UInt64 = 0

    init() {}

    var count: Int { deletions.count - first }

    /// Adds a deletion, and forgets the oldest above a limit; O(1) over many calls.
    mutating func append(_ deletion: Tombstone, limit: Int) {
        sort()
        deletions.append(deletion)
        expire(at: deletion.time)
        while count > limit { forgetFirst() }
    }

    /// Puts a deletion of an earlier run back; O(1).
    mutating func restore(_ deletion: Tombstone) {
        deletions.append(deletion)
        isUnsorted = true
    }

    /// Sorts what recovery has put back: a deletion may come from a row and again from the journal.
    private mutating func sort() {
        guard isUnsorted else { return }
        isUnsorted = false
        deletions.sort { $0.revision < $1.revision }
        var last: UInt64 = 0
        deletions.removeAll { deletion in
            defer { last = deletion.revision }
            return deletion.revision == last
        }
    }

    /// Forgets the deletions that are too old; O(1) over many calls.
    mutating func expire(at time: Int64) {
        sort()
        let oldest = time - RankingLimits.tombstoneLifetime
        while first < deletions.count, deletions[first].time < oldest { forgetFirst() }
        if first > deletions.count / 2 {
            deletions.removeFirst(first)
            first = 0
        }
    }

    private mutating func forgetFirst() {
        knownSince = deletions[first].revision
        first += 1
    }

    /// Appends the deletions of a range of revisions, in their order; returns the revision up to which none
    /// is left out; O(log n + deletions).
    func collect(
        _ range: SyncRange,
        _ slots: SlotKeys,
        into changes: inout [SyncChange]
    ) -> UInt64 {
        range.collect(deletions, from: first, into: &changes) { deletion in
            guard range.has(deletion.feed) else { return nil }
            let id = slots.id(deletion.slot)
            return SyncChange(revision: deletion.revision, id: id, isDeletion: true)
        }
    }
}

/// The part of the changes that a read of one stripe asks for.
struct SyncRange {
    var feed: FeedID?
    /// Only changes with a greater revision.
    var start: UInt64
    /// Only changes up to this revision.
    var end: UInt64
    var countLimit: Int
    /// The most changes that are looked at, those of other feeds among them.
    var scanLimit: Int

    /// Whether the changes of a feed are asked for; those of an unknown feed are.
    @inline(__always)
    func has(_ other: FeedID?) -> Bool { feed == nil || other == nil || feed == other }

    /// Appends the changes of some entries from a place on, as far as the range has them; returns the
    /// revision up to which none is left out.
    ///
    /// The body says what an entry stands for, nil if it is void. O(log n + entries looked at).
    func collect<Entry: RevisionEntry>(
        _ entries: [Entry],
        from first: Int = 0,
        into changes: inout [SyncChange],
        _ change: (Entry) -> SyncChange?
    ) -> UInt64 {
        var place = first
        var high = entries.count
        while place < high {
            let middle = (place + high) / 2
            if entries[middle].revision <= start { place = middle + 1 } else { high = middle }
        }
        let scanEnd = place + scanLimit
        let fullCount = changes.count + countLimit
        while place < entries.count, entries[place].revision <= end {
            let entry = entries[place]
            if place == scanEnd || changes.count == fullCount { return entry.revision - 1 }
            place += 1
            if let change = change(entry) { changes.append(change) }
        }
        return end
    }
}

/// The last change of a post.
struct SyncChange {
    var revision: UInt64
    var id: PostID
    var isDeletion = false
}

/// One of the entries that a stripe keeps in the order of their revisions.
protocol RevisionEntry {
    var revision: UInt64 { get }
}
