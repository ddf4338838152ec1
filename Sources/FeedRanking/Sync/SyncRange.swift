/// The part of the changes that a read of one stripe asks for.
struct SyncRange {
    /// The feed; nil is all feeds.
    var feed: FeedID?
    /// Only changes with a greater revision.
    var start: UInt64
    /// Only changes up to this revision.
    var end: UInt64
    /// The most changes that are taken.
    var countLimit: Int
    /// The most changes that are looked at, those of other feeds among them.
    var scanLimit: Int

    /// Whether the changes of a feed are asked for; those of an unknown feed are.
    @inline(__always)
    func has(_ other: FeedID?) -> Bool { feed == nil || other == nil || feed == other }
}

/// The last change of a post.
struct SyncChange {
    /// The revision of the change.
    var revision: UInt64
    /// The post.
    var id: PostID
    /// Whether the post was deleted.
    var isDeletion = false
}

/// One of the entries that a stripe keeps in the order of their revisions.
protocol RevisionEntry {
    /// The revision of the change.
    var revision: UInt64 { get }
}

extension SyncRange {
    /// Appends the changes of some entries from a place on, as far as the range has them; the body says
    /// what an entry stands for, nil if it is void.
    ///
    /// O(log n + entries looked at).
    ///
    /// - Returns: The revision up to which none is left out.
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
