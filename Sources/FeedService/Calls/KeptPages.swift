internal import FeedOrders
internal import FeedProto
internal import FeedRanking

/// The encoded pages near the start of their lists that a loop has served last.
///
/// Each is served again as long as nothing on it has changed. They are the same for all callers but for
/// the tokens and for what a caller has made of a post.
struct KeptPages {
    /// The most bytes of kept pages.
    static let byteLimit = 4 << 20
    /// The most pages, which are searched one after another.
    private static let countLimit = 64

    /// The last rank at which a page begins that is kept: further pages are asked for less often.
    private static let deepestRank = 512

    struct Key: Equatable {
        /// Feed, order, window and size, and with them the place of a further page: almost always unique.
        fileprivate let number: UInt64
        fileprivate let cursor: PageCursor?

        /// The key of a page; nil if it is not kept, or if it leaves out what its caller has dismissed.
        init?(_ query: PageQuery) {
            guard query.stability == .live, query.filter == PageFilter(),
                !query.filter.isNeeded(query.marks)
            else { return nil }
            let feed = query.feed.map { UInt64($0.rawValue) + 1 } ?? 0
            let order = UInt64(query.order.rawValue) << 8 | UInt64(query.window?.rawValue ?? 0)
            let list = feed << 24 | order << 8 | UInt64(query.size)
            switch query.start {
            case .first:
                (number, cursor) = (list, nil)
            case .cursor(let place)
            where place.direction == .after && place.snapshot == nil
                && place.rank <= KeptPages.deepestRank:
                let (primary, id) = (place.position.primary, place.position.id.rawValue)
                number = list ^ (primary &+ id &* 0x9E37_79B9_7F4A_7C15)
                cursor = place
            case .cursor, .rank, .around, .newerThan:
                return nil
            }
        }
    }

    struct Page {
        let key: Key
        /// The page without posts: its cursors and counts.
        let rest: PostPage
        /// What tells which posts they are, to a voter's ballots and marks.
        let origins: [FeedRanking.PostOrigin]
        let posts: EncodedPosts
        /// The fields beside the posts, as a caller without identity gets them, and the tokens in them.
        let list: ListPostsFields
        let tokens: [UInt8]

        fileprivate var byteCount: Int {
            posts.byteCount + tokens.count + origins.count
                * MemoryLayout<FeedRanking.PostOrigin>.size
        }
    }

    /// What a search looks at, without a reference count.
    private struct Entry {
        /// The number of the page's key, which tells almost all pages apart.
        let number: UInt64
        /// Whether the page is a first page, whose number is its key.
        let isFirst: Bool
        let life: PageLife
        /// The number of its latest use.
        var lastUse: UInt64
    }

    private var entries: [Entry] = []
    private(set) var pages: [Page] = []
    private var useCount: UInt64 = 0
    /// The bytes of the posts of the kept pages; a page has fewer than a frame, so it fits alone.
    private(set) var byteCount = 0

    init() {}

    /// The place of a page that is the same at a moment; nil if it is not kept, or has changed.
    mutating func place(of key: Key, at moment: PageMoment) -> Int? {
        guard let place = place(of: key.number), isSame(place, at: moment),
            entries[place].isFirst && key.cursor == nil || pages[place].key == key
        else { return nil }
        useCount += 1
        entries[place].lastUse = useCount
        return place
    }

    func isSame(_ place: Int, at moment: PageMoment) -> Bool { entries[place].life.has(moment) }

    /// Keeps a page in place of an earlier one and of those that were served least lately; returns its place.
    mutating func keep(_ page: Page, for life: PageLife) -> Int {
        if let place = place(of: page.key.number) { remove(place) }
        while pages.count == Self.countLimit || byteCount + page.byteCount > Self.byteLimit {
            guard let least = entries.indices.min(by: { entries[$0].lastUse < entries[$1].lastUse })
            else { break }
            remove(least)
        }
        useCount += 1
        let key = page.key
        entries.append(
            Entry(number: key.number, isFirst: key.cursor == nil, life: life, lastUse: useCount)
        )
        pages.append(page)
        byteCount += page.byteCount
        return pages.count - 1
    }

    private func place(of number: UInt64) -> Int? {
        entries.firstIndex { $0.number == number }
    }

    private mutating func remove(_ place: Int) {
        byteCount -= pages[place].byteCount
        entries.remove(at: place)
        pages.remove(at: place)
    }
}
