import FeedRanking
import FeedRankingModel
import FeedTestSupport

/// First pages that are kept as a service keeps them, and are compared as long as the store says that they
/// have not changed.
extension ModelRun {
    /// A page, and what the store was at before it was read.
    struct KeptPage {
        let query: PageQuery
        let page: PostPage
        let revision: UInt64
        let shownVersion: UInt64
    }

    private static let keptLimit = 12
    /// Orders that do not go by the time of day; those that votes do not invalidate come often.
    private static let keptOrders: [Order] = [
        .top, .top, .new, .new, .hot, .hot, .old, .best, .discussed,
    ]

    /// Keeps a page more, and compares those that have not changed.
    mutating func useKeptPages() throws {
        for place in kept.indices.reversed() {
            let known = kept[place]
            guard
                known.page.isShown
                    ? store.shownVersion(of: known.query.feed) == known.shownVersion
                    : store.revision == known.revision
            else {
                kept.remove(at: place)
                continue
            }
            let list = list(known.query.feed?.rawValue, known.query.order, nil)
            page = known.page
            let text = "kept \(known.query.order) of \(list.count)"
            try compareRows(Array(list.prefix(known.query.size)), voter: nil, text)
            try expect(page.totalCount == UInt64(list.count), "\(text): total \(page.totalCount)")
            if store.revision > known.revision { outlivedCount += 1 }
        }
        guard kept.count < Self.keptLimit else { return }
        let query = PageQuery(
            feed: random.oneIn(3) ? nil : feeds.randomElement(using: &random),
            order: Self.keptOrders.randomElement(using: &random) ?? .top,
            size: random.oneIn(4) ? 100 : Int.random(in: 1...20, using: &random)
        )
        let revision = store.revision
        let shownVersion = store.shownVersion(of: query.feed)
        // The model reads the clock as the store does.
        _ = list(query.feed?.rawValue, query.order, nil)
        try load(query)
        kept.append(
            KeptPage(query: query, page: page, revision: revision, shownVersion: shownVersion)
        )
    }
}
