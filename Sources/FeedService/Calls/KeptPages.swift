internal import FeedRanking

/// The encoded first pages that a loop has served last: each is served again as long as nothing on it has
/// changed.
///
/// They are pages of callers who have neither ballots nor marks, and so see the same but for the tokens. A
/// page whose list has a window, or ranks by rates, changes with the time too, and is not kept.
struct KeptPages {
    /// The most bytes of kept pages.
    static let byteLimit = 4 << 20
    /// The most pages, which are searched one after another.
    private static let countLimit = 64

    /// Which page it is, in one number.
    struct Key: Equatable {
        private let number: UInt64

        /// The key of a page for a caller who is a viewer or not; nil if it is not kept.
        init?(_ query: PageQuery, isViewer: Bool) {
            guard query.start == .first, query.stability == .live, query.voter == nil,
                query.filter == PageFilter(), query.window == nil, query.order != .rising
            else { return nil }
            let feed = query.feed.map { UInt64($0.rawValue) + 1 } ?? 0
            number =
                feed << 17 | (isViewer ? 1 << 16 : 0)
                | UInt64(query.order.rawValue) << 8 | UInt64(query.size)
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

    /// A page, and its answer.
    struct Page {
        /// The store before it was read.
        fileprivate let moment: Moment
        /// The page without posts: its cursors and counts.
        fileprivate let rest: PostPage
        /// The scope of the answer's tokens.
        fileprivate let scope: PageTokenScope
        /// The bytes of the answer behind its revision.
        fileprivate let bytes: [UInt8]
        /// The posts among them.
        fileprivate let posts: ArraySlice<UInt8>
        fileprivate var lastUse: UInt64 = 0

        /// A page that was read after a moment, and encoded.
        init(
            _ page: borrowing PostPage,
            _ moment: Moment,
            _ scope: PageTokenScope,
            _ bytes: [UInt8]
        ) {
            self.moment = moment
            rest = page.withoutPosts
            self.scope = scope
            self.bytes = bytes
            posts = bytes[Self.range(ofPostsIn: bytes)]
        }

        /// Whether it is the same at another moment.
        fileprivate func isSame(at moment: Moment) -> Bool {
            rest.isShown
                ? self.moment.shownVersion == moment.shownVersion
                : self.moment.revision == moment.revision
        }

        /// Behind the list's tag, of two bytes, and its length come the posts, each behind its tag, 0x0A.
        private static func range(ofPostsIn bytes: [UInt8]) -> Range<Int> {
            var place = 2
            _ = length(in: bytes, at: &place)
            let start = place
            while place < bytes.count, bytes[place] == 0x0A {
                place += 1
                let length = length(in: bytes, at: &place)
                place += length
            }
            return start..<place
        }

        private static func length(in bytes: [UInt8], at place: inout Int) -> Int {
            var length = 0
            for shift in stride(from: 0, through: 28, by: 7) {
                let byte = bytes[place]
                place += 1
                length |= Int(byte & 0x7F) << shift
                if byte < 0x80 { break }
            }
            return length
        }
    }

    private var keys: [Key] = []
    private var pages: [Page] = []
    private var useCount: UInt64 = 0
    /// The bytes of the kept pages.
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

    /// The scope of the tokens of a kept answer.
    func scope(at place: Int) -> PageTokenScope { pages[place].scope }

    /// The bytes of a kept answer behind its revision.
    func bytes(at place: Int) -> [UInt8] { pages[place].bytes }

    /// The encoded posts of a kept answer.
    func posts(at place: Int) -> ArraySlice<UInt8> { pages[place].posts }

    /// A kept page without its posts.
    func page(at place: Int) -> PostPage { pages[place].rest }

    /// Keeps a page, in place of an earlier one and of those that were served least lately.
    mutating func keep(_ key: Key, _ page: Page) {
        if let place = keys.firstIndex(of: key) { remove(place) }
        guard page.bytes.count <= Self.byteLimit else { return }
        while keys.count == Self.countLimit || byteCount + page.bytes.count > Self.byteLimit {
            guard let least = pages.indices.min(by: { pages[$0].lastUse < pages[$1].lastUse })
            else { break }
            remove(least)
        }
        useCount += 1
        keys.append(key)
        pages.append(page)
        pages[pages.count - 1].lastUse = useCount
        byteCount += page.bytes.count
    }

    private mutating func remove(_ place: Int) {
        byteCount -= pages[place].bytes.count
        keys.remove(at: place)
        pages.remove(at: place)
    }
}
