internal import FeedProto
internal import FeedRanking

/// The encoded first pages that a loop has served last: each is served again as long as nothing on it has
/// changed.
///
/// They are the same for all callers but for the tokens and for what a caller has made of a post. A page
/// whose list has a window, or ranks by rates, changes with the time too, and is not kept.
struct KeptPages {
    /// The most bytes of kept pages.
    static let byteLimit = 4 << 20
    /// The most pages, which are searched one after another.
    private static let countLimit = 64

    /// Which page it is, in one number.
    struct Key: Equatable {
        private let number: UInt64

        /// The key of a page; nil if it is not kept, or if it leaves out what its caller has dismissed.
        init?(_ query: PageQuery) {
            guard query.start == .first, query.stability == .live, query.filter == PageFilter(),
                !query.filter.isNeeded(query.marks), query.window == nil, query.order != .rising
            else { return nil }
            let feed = query.feed.map { UInt64($0.rawValue) + 1 } ?? 0
            number = feed << 16 | UInt64(query.order.rawValue) << 8 | UInt64(query.size)
        }
    }

    /// What the store was at before a page was read.
    struct Moment {
        /// The revision that the page has.
        let revision: UInt64
        /// How often first pages of its feed may have changed.
        let shownVersion: UInt64

        /// The store as it is now.
        init(_ store: FeedStore, feed: FeedID?) {
            // In this order: see `FeedStore.shownVersion(of:)`.
            revision = store.revision
            shownVersion = store.shownVersion(of: feed)
        }
    }

    /// A page whose posts are encoded.
    struct Page {
        /// The page without posts: its cursors and counts.
        let rest: PostPage
        /// What tells which posts they are, to a voter's ballots and marks.
        let origins: [FeedRanking.PostOrigin]
        /// The encoded posts.
        let posts: EncodedPosts
        /// The store before it was read.
        let moment: Moment
        /// The number of its latest use.
        fileprivate(set) var lastUse: UInt64 = 0

        /// The bytes that its posts take.
        fileprivate var byteCount: Int {
            posts.byteCount + origins.count * MemoryLayout<FeedRanking.PostOrigin>.size
        }

        /// Whether it is the same at another moment.
        func isSame(at moment: Moment) -> Bool {
            rest.isShown
                ? self.moment.shownVersion == moment.shownVersion
                : self.moment.revision == moment.revision
        }
    }

    private var keys: [Key] = []
    private var pages: [Page] = []
    private var useCount: UInt64 = 0
    /// The bytes of the posts of the kept pages; a page has fewer than a frame, so it fits alone.
    private(set) var byteCount = 0

    /// No pages.
    init() {}

    /// The place of a page that is the same at a moment; nil if it is not kept, or has changed.
    mutating func place(of key: Key, at moment: Moment) -> Int? {
        guard let place = keys.firstIndex(of: key), pages[place].isSame(at: moment) else {
            return nil
        }
        useCount += 1
        pages[place].lastUse = useCount
        return place
    }

    /// A kept page.
    subscript(place: Int) -> Page { pages[place] }

    /// Keeps a page in place of an earlier one and of those that were served least lately; returns its place.
    mutating func keep(_ key: Key, _ page: Page) -> Int {
        if let place = keys.firstIndex(of: key) { remove(place) }
        while keys.count == Self.countLimit || byteCount + page.byteCount > Self.byteLimit {
            guard let least = pages.indices.min(by: { pages[$0].lastUse < pages[$1].lastUse })
            else { break }
            remove(least)
        }
        useCount += 1
        keys.append(key)
        pages.append(page)
        pages[pages.count - 1].lastUse = useCount
        byteCount += page.byteCount
        return pages.count - 1
    }

    private mutating func remove(_ place: Int) {
        byteCount -= pages[place].byteCount
        keys.remove(at: place)
        pages.remove(at: place)
    }
}
