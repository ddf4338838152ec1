import FeedRanking
import FeedRankingModel
import FeedTestSupport

/// Pages that are kept as a service keeps them, and are compared as long as the store says that they have not
/// changed.
extension ModelRun {
    /// A page, and what the store was at before it was read.
    struct KeptPage {
        let query: PageQuery
        let saved: SavedCursor?
        let page: PostPage
        let moment: PageMoment
    }

    private static let keptLimit = 12
    /// Those that votes do not invalidate, or time does, come often.
    private static let keptLists: [(Order, Window?)] =
        Order.allCases.map { ($0, nil) }
        + [
            (.top, nil), (.new, nil), (.hot, nil), (.top, .hour), (.top, .week),
            (.controversial, .day),
        ]

    /// Keeps a page more, and compares those that have not changed.
    mutating func useKeptPages() throws {
        for place in kept.indices.reversed() {
            let known = kept[place]
            let (query, now) = (known.query, store.moment(of: known.query))
            // The model reads the clock if the store does: for a window.
            let list =
                query.window == nil
                ? model.list(query.feed?.rawValue, query.order, nil, endingAt: 0)
                : list(query.feed?.rawValue, query.order, query.window)
            guard PageLife(of: known.page, readAt: known.moment).has(now) else {
                kept.remove(at: place)
                continue
            }
            page = known.page
            try comparePage(query, list, known.saved)
            if now.revision > known.moment.revision { outlivedCount += 1 }
        }
        guard kept.count < Self.keptLimit else { return }
        let (order, window) = Self.keptLists.randomElement(using: &random) ?? (.top, nil)
        var query = PageQuery(
            feed: random.oneIn(3) ? nil : feeds.randomElement(using: &random),
            order: order,
            window: window,
            size: random.oneIn(4) ? 100 : Int.random(in: 1...20, using: &random)
        )
        let saved = random.oneIn(2) ? cursors.randomElement(using: &random) : nil
        if let cursor = saved?.cursor {
            query.start = .cursor(cursor)
            (query.feed, query.order, query.window) = (cursor.feed, cursor.order, cursor.window)
        }
        let moment = store.moment(of: query)
        // The model reads the clock as the store does.
        _ = list(query.feed?.rawValue, query.order, query.window)
        try load(query)
        kept.append(KeptPage(query: query, saved: saved, page: page, moment: moment))
    }
}
