/// The places of posts in an order, computed from their records without an index.
///
/// They are functions of `SlotKeys` and not of `StandingLists`, because `SlotKeys` is cheap to copy.
/// Swift 6.3 copies a noncopyable value for each call that does not change it, where the caller
/// holds it `inout`.
extension SlotKeys {
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

    /// The place of a key of the stripe.
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
