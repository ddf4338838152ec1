/// A range of `PostPage.texts`.
package struct TextRange: Equatable, Sendable {
    /// The first byte's place.
    package var offset: UInt32
    /// The bytes of UTF-8.
    package var count: UInt32

    /// A range that the texts have, or will have.
    package init(offset: UInt32, count: UInt32) {
        self.offset = offset
        self.count = count
    }
}

/// One post of a page: its numbers, and where its texts lie.
package struct PostRow: Equatable, Sendable {
    /// What calls name the post by.
    package var id: PostID
    /// The feed it was made in.
    package var feed: FeedID
    /// Upvotes less downvotes.
    package var score: Int64
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64
    /// What the last create or update said it is.
    package var commentCount: UInt64
    /// Unix time by the store's clock.
    package var createTimeMilliseconds: Int64
    /// Unix time of the last edit; votes are none.
    package var updateTimeMilliseconds: Int64
    /// The number of the last write of any kind, votes among them.
    package var revision: UInt64
    /// The viewer's ballot, where the feed keeps ballots and the viewer cast one.
    package var viewerVote: VoteDirection?
    /// Empty where the post has no author's name.
    package var authorName: TextRange
    /// Empty where the post has none.
    package var title: TextRange
    /// Empty where the post has none.
    package var text: TextRange
    /// Empty where the post leads nowhere.
    package var linkURL: TextRange
    /// Empty where the post has none.
    package var thumbnailURL: TextRange
    /// Empty where the post has none.
    package var imageURL: TextRange
}

extension PostRow {
    fileprivate var hotKey: Int64 {
        HotRank.key(score: score, createTimeMilliseconds: createTimeMilliseconds)
    }
}

/// Posts with their texts in one buffer; reused from call to call, so that none allocates for long.
package struct PostPage: Sendable {
    /// The posts in the order of the page.
    package var rows: [PostRow] = []
    /// The UTF-8 of all rows, to which their ranges point.
    package var texts: [UInt8] = []
    /// Where the list goes on; nil at its end, and on a page beyond it.
    package var next: PageCursor?
    /// Where the list goes back; nil at its start, and on a page before it.
    package var previous: PageCursor?
    /// The rank of the first row (1 = the list's first); one more than the list has posts where a
    /// page begins beyond its end.
    package var firstRank: UInt64 = 0
    /// How many posts the list has.
    package var totalCount: UInt64 = 0

    /// The working memory of the call that fills the page.
    var merge = PageMerge()

    /// A page without rows; its memory comes with the first that it takes.
    package init() {}

    /// Empties the page and keeps its memory.
    package mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        next = nil
        previous = nil
        firstRank = 0
        totalCount = 0
    }

    /// Whether a further post's texts would pass a limit; a page's first post always fits.
    @inline(__always)
    func isFull(for textByteCount: Int, byteLimit: Int) -> Bool {
        !rows.isEmpty && texts.count + textByteCount > byteLimit
    }

    /// The bytes of a row's text.
    package func bytes(_ range: TextRange) -> ArraySlice<UInt8> {
        texts[Int(range.offset)..<Int(range.offset) + Int(range.count)]
    }

    /// Puts rows in order that votes have moved while they were fetched; there are few.
    mutating func sortRows(_ kind: IndexKind, isDescending: Bool) {
        for index in rows.indices.dropFirst() {
            var place = index
            while place > 0, precedes(rows[place], rows[place - 1], kind) != isDescending {
                rows.swapAt(place, place - 1)
                place -= 1
            }
        }
    }

    private func precedes(_ left: PostRow, _ right: PostRow, _ kind: IndexKind) -> Bool {
        switch kind {
        case .top:
            if left.score != right.score { return left.score > right.score }
            let (leftTitle, rightTitle) = (bytes(left.title), bytes(right.title))
            if leftTitle != rightTitle { return leftTitle.lexicographicallyPrecedes(rightTitle) }
            return left.id < right.id
        case .new:
            let (leftTime, rightTime) = (left.createTimeMilliseconds, right.createTimeMilliseconds)
            return leftTime != rightTime ? leftTime > rightTime : left.id > right.id
        case .hot:
            let (leftKey, rightKey) = (left.hotKey, right.hotKey)
            return leftKey != rightKey ? leftKey > rightKey : left.id < right.id
        }
    }
}
