import FeedConcurrency
import FeedRanking
import FeedRankingModel
import Synchronization

/// A store with a clock and a monotonic time of its own, and reads of its pages.
final class ListedFeed: Sendable {
    static let feed = FeedID(rawValue: 0)

    let clock = TestClock()
    let store: FeedStore

    /// A feed of posts, with a time each millisecond.
    init(postCount: Int, stripeCount: Int = 4, stepPostCount: Int? = nil) throws {
        let clock = clock
        var pace = RefreshPace()
        pace.sideStepPostCount = stepPostCount ?? pace.sideStepPostCount
        store = FeedStore(stripeCount: stripeCount, pace: pace) {
            clock.milliseconds.load(ordering: .relaxed)
        }
        for _ in 0..<postCount { try create() }
    }

    /// Creates a post a millisecond after the one before.
    @discardableResult
    func create(authorID: UInt64 = 0, title: String = "") throws -> PostID {
        tick()
        var page = PostPage()
        let content = PostContent(authorID: authorID, title: title)
        try store.createPost(content, in: Self.feed, into: &page)
        return page.rows[0].id
    }

    /// Moves the clock on by a millisecond.
    func tick() { clock.milliseconds.wrappingAdd(1, ordering: .relaxed) }

    /// Reads a page whole, however often it has to be asked for.
    func read(_ query: PageQuery) throws(RankingError) -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        while try store.page(query, into: &page, allowance: &allowance) != .done {}
        return page
    }

    /// The first page of a walk, from a snapshot if there is one.
    func stable(
        _ order: Order = .top,
        size: Int = 10,
        from revision: UInt64 = 0,
        atMillisecond now: Int = 0
    ) -> PageQuery {
        var query = PageQuery(feed: Self.feed, order: order, size: size)
        query.stability = .stable(from: revision)
        query.now = Self.instant(now)
        return query
    }

    /// Walks from a page to the end of the list.
    ///
    /// - Returns: The ids of the stable pages, and the ids of the pages after the switch to live.
    func walk(
        _ first: PageQuery,
        between: () throws -> Void = {}
    ) throws -> (
        stable: [PostID], live: [PostID]
    ) {
        var (stable, live): ([PostID], [PostID]) = ([], [])
        var query = first
        while true {
            let page = try read(query)
            if page.isStable { stable += page.rows.map(\.id) } else { live += page.rows.map(\.id) }
            guard let next = page.next else { return (stable, live) }
            query.start = .cursor(next)
            try between()
        }
    }

    static func instant(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }
}

extension PostPage {
    /// The ids of the rows.
    var ids: [PostID] { rows.map(\.id) }
}
