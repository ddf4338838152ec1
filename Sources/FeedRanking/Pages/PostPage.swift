/// Posts with their texts in one buffer; a caller reuses a page, so that calls rarely allocate.
package struct PostPage: Sendable {
    package var rows: [PostRow] = []
    /// The UTF-8 of all rows, to which their ranges point.
    package var texts: [UInt8] = []
    /// The start of the next page; nil at the end of the list, and on a page beyond it.
    package var next: PageCursor?
    /// The start of the previous page; nil at the start of the list, and on a page before it.
    package var previous: PageCursor?
    /// The rank of the first row (1 = the list's first); one more than the list has posts where a
    /// page begins beyond its end.
    package var firstRank: UInt64 = 0
    package var totalCount: UInt64 = 0

    package var isStable: Bool { snapshotRevision != nil }
    /// The revision of the snapshot that the rows are in the order of; nil on a page as of now.
    ///
    /// Every change of the list up to it is in the order.
    package var snapshotRevision: UInt64?
    /// The place in NEW from which a refresh begins; nil on a page that a cursor led to, but for a
    /// refresh.
    package var refreshPlace: ListPosition?
    /// The number of newer posts that a refresh has left; 0 on all other pages.
    package var newerCount: UInt64 = 0
    /// Whether each change of the page's posts counts as shown; other pages may change with each revision.
    package internal(set) var isShown = false
    /// When the first post leaves the list's window, in Unix milliseconds.
    var endTime = Int64.max

    var merge = PageMerge()
    /// The keys of the rows of a list, as of when they were copied.
    package internal(set) var rowKeys: [RankKey] = []

    package init() {}

    /// Empties the page and keeps its memory.
    package mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        rowKeys.removeAll(keepingCapacity: true)
        next = nil
        previous = nil
        firstRank = 0
        totalCount = 0
        snapshotRevision = nil
        refreshPlace = nil
        newerCount = 0
        isShown = false
        endTime = .max
    }

    /// The page without its posts: its cursors and counts.
    package var withoutPosts: PostPage {
        var page = PostPage()
        (page.next, page.previous) = (next, previous)
        (page.firstRank, page.totalCount, page.newerCount) = (firstRank, totalCount, newerCount)
        page.snapshotRevision = snapshotRevision
        page.refreshPlace = refreshPlace
        (page.isShown, page.endTime) = (isShown, endTime)
        return page
    }

    /// Sets what a viewer's marks make of the rows; O(rows).
    package mutating func apply(_ marks: ViewerMarks?) {
        guard let marks else { return }
        for index in rows.indices { rows[index].viewerState = marks.state(of: rows[index].origin) }
    }

    /// Appends a post of a stripe, with the ballot of a voter; O(1) beside its texts.
    ///
    /// The stripe does not change. It is `inout` because Swift 6.3 copies a noncopyable value for a
    /// call that borrows it, where the caller holds it `inout`.
    mutating func append(_ slot: UInt32, of stripe: inout Stripe, _ voter: VoterID?) {
        let record = stripe.posts[slot]
        var row = PostRow(
            id: stripe.slots.id(slot),
            feed: record.feed,
            score: record.score,
            upvoteCount: record.upvoteCount,
            downvoteCount: record.downvoteCount,
            createTimeMilliseconds: record.createTimeMilliseconds,
            revision: record.revision
        )
        if let voter, record.flags.contains(.keepsBallots) {
            row.viewerVote = stripe.ballots.ballot(slot, voter)
        }
        record.content.append(to: &texts, row: &row)
        rows.append(row)
    }

    mutating func appendDeletion(of id: PostID, revision: UInt64) {
        let feed = FeedID(rawValue: 0)
        rows.append(PostRow(id: id, feed: feed, revision: revision, isDeleted: true))
    }

    enum RowOutcome {
        /// The post of a slot is the page's last row.
        case appended(UInt32)
        case missing
        case full
    }

    /// Appends a post of a stripe if the post is live and its texts fit; O(1) beside its texts.
    @inline(__always)
    mutating func appendLive(
        _ id: PostID,
        of stripe: inout Stripe,
        _ voter: VoterID?,
        byteLimit: Int
    ) -> RowOutcome {
        guard let slot = stripe.liveSlot(id) else { return .missing }
        if isFull(for: stripe.textByteCount(slot), byteLimit: byteLimit) { return .full }
        append(slot, of: &stripe, voter)
        return .appended(slot)
    }

    /// Whether a further post's texts would pass a limit; a page's first post always fits.
    @inline(__always)
    private func isFull(for textByteCount: Int, byteLimit: Int) -> Bool {
        !rows.isEmpty && texts.count + textByteCount > byteLimit
    }

    package func bytes(_ range: TextRange) -> ArraySlice<UInt8> {
        texts[Int(range.offset)..<Int(range.offset) + Int(range.count)]
    }

    /// Sorts the rows again by their keys, after votes have moved posts between the merge and the
    /// copying of rows.
    mutating func sortRows(isDescending: Bool) {
        for index in rows.indices.dropFirst() {
            var place = index
            while place > 0, precedes(place, place - 1) != isDescending {
                rows.swapAt(place, place - 1)
                rowKeys.swapAt(place, place - 1)
                place -= 1
            }
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (leftKey, rightKey) = (rowKeys[left], rowKeys[right])
        if leftKey.primary != rightKey.primary { return leftKey.primary < rightKey.primary }
        if leftKey.secondary != rightKey.secondary { return leftKey.secondary < rightKey.secondary }
        if RankKey.titleDecides(leftKey.secondary) {
            let (leftTitle, rightTitle) = (bytes(rows[left].title), bytes(rows[right].title))
            if leftTitle != rightTitle { return leftTitle.lexicographicallyPrecedes(rightTitle) }
        }
        return rows[left].id < rows[right].id
    }
}

/// What a store is at before a page is read, which tells later whether the page has changed.
package struct PageMoment: Sendable {
    /// The revision that a page read afterwards has.
    package let revision: UInt64
    /// How often the first pages of its feed may have changed (`ChangeCounts`).
    let shownVersion: UInt64
    /// The time of the clock that ends windows, in Unix milliseconds, and the number of its era; 0 for
    /// a list of all time.
    let time: Int64
    let era: UInt64
}

/// How long a page is the same.
///
/// A page that is shown (``PostPage/isShown``) changes with the shown version, and others with each
/// revision. A page of a window changes also when the first post leaves the list, or the clock goes back.
package struct PageLife: Sendable {
    private let start: PageMoment
    private let isShown: Bool
    private let endTime: Int64

    package init(of page: PostPage, readAt moment: PageMoment) {
        start = moment
        (isShown, endTime) = (page.isShown, page.endTime)
    }

    /// Whether the page is the same at a later moment; O(1).
    package func has(_ now: PageMoment) -> Bool {
        guard isShown ? start.shownVersion == now.shownVersion : start.revision == now.revision
        else { return false }
        return now.time < endTime && start.era == now.era
    }
}

/// The first posts of a list at a moment, in order, by their numbers; a caller reuses the value, so
/// that calls rarely allocate.
package struct FirstPosts: Sendable {
    package internal(set) var posts: [PostNumbers] = []
    /// A revision up to which every change of the list is in it.
    package internal(set) var revision: UInt64 = 0
    /// The posts that were created in the feed, or in all feeds, since the start of the process,
    /// deleted ones included; a window does not count.
    package internal(set) var createdCount: UInt64 = 0
    /// The posts that were looked at.
    package internal(set) var lookCount = 0

    var merge = PageMerge()

    package init() {}
}

/// The numbers of a post at a moment, without its texts.
package struct PostNumbers: BitwiseCopyable, Equatable, Sendable {
    package var id: PostID
    /// The number of the last write of any kind, votes among them.
    package var revision: UInt64
    /// The number of the last write that was no vote: the texts have been the same since.
    package var editRevision: UInt64
    package var upvoteCount: UInt64
    package var downvoteCount: UInt64

    package var score: Int64 { Int64(bitPattern: upvoteCount &- downvoteCount) }

    @inline(__always)
    init(_ id: PostID, _ record: PostRecord) {
        self.id = id
        revision = record.revision
        editRevision = record.content.editRevision
        upvoteCount = record.upvoteCount
        downvoteCount = record.downvoteCount
    }
}
