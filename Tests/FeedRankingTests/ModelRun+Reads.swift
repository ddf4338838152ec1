import FeedOrders
import FeedRanking
import FeedRankingModel
import FeedTestSupport
import Synchronization

extension ModelRun {
    /// More tries than any request takes: an allowance of one key doubled so often passes all posts.
    private static let tryLimit = 32

    mutating func read() throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: try readRank()
        case 1: try readBatch()
        case 2: try readFeeds()
        default: try readPage()
        }
    }

    /// Walks every list from its start to its end and back.
    mutating func compareWhole() throws {
        for (order, window) in Self.lists {
            for feed in [nil] + feeds {
                let list = list(feed?.rawValue, order, window)
                var query = PageQuery(feed: feed, order: order, window: window, size: 100)
                try load(query)
                var rows = page.rows.map(\.id.rawValue)
                while let next = page.next {
                    query.start = .cursor(next)
                    try load(query)
                    try expect(!page.rows.isEmpty, "walk \(order): an empty page")
                    rows += page.rows.map(\.id.rawValue)
                }
                try expect(rows == list.map(\.id), "walk \(order) of \(list.count)")
                let lastCount = page.rows.count
                rows = Array(rows.suffix(lastCount))
                while let previous = page.previous {
                    query.start = .cursor(previous)
                    try load(query)
                    rows = page.rows.map(\.id.rawValue) + rows
                }
                try expect(rows == list.map(\.id), "walk back \(order) of \(list.count)")
            }
        }
        try expect(store.postCount == UInt64(model.posts.count), "post count")
        try expect(store.revision == model.revision, "revision")
    }

    mutating func load(_ query: PageQuery) throws {
        readClock(query)
        var allowance = RefreshAllowance(keyCount: shape.allowanceKeyCount)
        for _ in 0..<Self.tryLimit {
            if try store.page(query, into: &page, allowance: &allowance) == .done { return }
            allowance.renew()
        }
        throw Difference(description: "page: it never ends")
    }

    /// A page from which a refresh may begin reads the clock, which then does not go back.
    private mutating func readClock(_ query: PageQuery) {
        if case .cursor = query.start { return }
        _ = model.time(at: clock.milliseconds.load(ordering: .relaxed))
    }

    private mutating func readPage() throws {
        let feed = random.oneIn(3) ? nil : feeds.randomElement(using: &random)
        let largest = [4, 30, 100].randomElement(using: &random) ?? 4
        let (order, window) = Self.lists.randomElement(using: &random) ?? (.top, nil)
        var query = PageQuery(
            feed: feed,
            order: order,
            window: window,
            size: Int.random(in: 1...largest, using: &random),
            voter: random.oneIn(2) ? voters.randomElement(using: &random) : nil
        )
        if random.oneIn(6) { query.byteLimit = Int.random(in: 0...400, using: &random) }
        var saved: SavedCursor?
        switch Int.random(in: 0..<8, using: &random) {
        case 0: query.start = .rank(UInt64.random(in: 0...UInt64(ids.count) + 2, using: &random))
        case 1: query.start = .around(PostID(rawValue: anyID()))
        case 2, 3, 4, 5:
            guard let cursor = cursors.randomElement(using: &random) else { break }
            saved = cursor
            query.start = .cursor(cursor.cursor)
            query.feed = cursor.cursor.feed
            query.order = cursor.cursor.order
            query.window = cursor.cursor.window
        default: break
        }
        let list = list(query.feed?.rawValue, query.order, query.window)
        readClock(query)
        do throws(RankingError) {
            var allowance = RefreshAllowance(keyCount: shape.allowanceKeyCount)
            for tryNumber in 0... {
                if try store.page(query, into: &page, allowance: &allowance) == .done { break }
                guard tryNumber < Self.tryLimit else { fatalError("A page never ends.") }
                allowance.renew()
            }
        } catch {
            guard case .around(let id) = query.start else {
                throw Difference(description: "page: \(error)")
            }
            let isThere = list.contains { $0.id == id.rawValue }
            return try expect(!isThere && error == .postNotInList(id), "around: \(error)")
        }
        try comparePage(query, list, saved)
    }

    mutating func comparePage(
        _ query: PageQuery,
        _ list: [FeedModel.Post],
        _ saved: SavedCursor?
    ) throws {
        let range = expectedRange(query, list, saved)
        let fitting = fit(range, list, query, isBackwards: saved?.cursor.direction == .before)
        let window = query.window.map { "of a \($0) " } ?? ""
        let text = "page \(query.order) \(window)\(query.start) of \(list.count)"
        try compareRows(Array(list[fitting]), voter: query.voter, text)
        try expect(page.totalCount == UInt64(list.count), "\(text): total \(page.totalCount)")
        guard !fitting.isEmpty else { return try compareEmptyPage(list, saved, text) }
        try expect(
            (page.next == nil) == (fitting.upperBound == list.count),
            "\(text): next of \(fitting)"
        )
        try expect(
            (page.previous == nil) == (fitting.lowerBound == 0),
            "\(text): previous of \(fitting)"
        )
        let firstRank = expectedFirstRank(fitting, saved)
        try expect(page.firstRank == firstRank, "\(text): rank \(page.firstRank), not \(firstRank)")
        keep(page.next, list[fitting.upperBound - 1], firstRank + UInt64(fitting.count) - 1)
        keep(page.previous, list[fitting.lowerBound], firstRank)
    }

    /// A page beyond an end leads back to all of the list, as long as there is one.
    private mutating func compareEmptyPage(
        _ list: [FeedModel.Post],
        _ saved: SavedCursor?,
        _ text: String
    ) throws {
        let isBackwards = saved?.cursor.direction == .before
        let wayBack = isBackwards ? page.next : page.previous
        let wayOn = isBackwards ? page.previous : page.next
        try expect((wayBack == nil) == list.isEmpty, "\(text): the way back")
        try expect(wayOn == nil, "\(text): a way on from an empty page")
        let firstRank = isBackwards ? 1 : UInt64(list.count) + 1
        try expect(page.firstRank == firstRank, "\(text): rank \(page.firstRank) of no post")
        keep(wayBack, nil, isBackwards ? 0 : firstRank)
    }

    private func expectedFirstRank(_ range: Range<Int>, _ saved: SavedCursor?) -> UInt64 {
        guard let saved else { return UInt64(range.lowerBound) + 1 }
        if saved.cursor.direction == .after { return saved.anchor.rank + 1 }
        let count = UInt64(range.count)
        return saved.anchor.rank > count ? saved.anchor.rank - count : 1
    }

    private mutating func keep(_ cursor: PageCursor?, _ post: FeedModel.Post?, _ rank: UInt64) {
        guard let cursor else { return }
        let saved = SavedCursor(cursor: cursor, anchor: FeedModel.Anchor(post: post, rank: rank))
        if cursors.count < 40 {
            cursors.append(saved)
        } else {
            cursors[Int.random(in: 0..<40, using: &random)] = saved
        }
    }

    private func expectedRange(
        _ query: PageQuery,
        _ list: [FeedModel.Post],
        _ saved: SavedCursor?
    ) -> Range<Int> {
        var low = 0
        switch query.start {
        case .first, .newerThan: break
        case .rank(let rank): low = min(Int(max(rank, 1)) - 1, list.count)
        case .around(let id):
            let place = list.firstIndex { $0.id == id.rawValue } ?? 0
            low = max(place - query.size / 2, 0)
        case .cursor(let cursor):
            let anchor = saved?.anchor.post
            if cursor.direction == .before {
                let high = anchor.flatMap { anchor in
                    list.firstIndex { !model.precedes($0, anchor, query.order) }
                }
                let end = high ?? list.count
                return max(end - query.size, 0)..<end
            }
            guard let anchor else { break }
            low = list.firstIndex { model.precedes(anchor, $0, query.order) } ?? list.count
        }
        return low..<min(low + query.size, list.count)
    }

    /// What of a range fits the byte limit, from the side the walk begins.
    private func fit(
        _ range: Range<Int>,
        _ list: [FeedModel.Post],
        _ query: PageQuery,
        isBackwards: Bool
    ) -> Range<Int> {
        var byteCount = 0
        var count = 0
        for index in isBackwards ? Array(range.reversed()) : Array(range) {
            let content = list[index].content
            byteCount += [
                content.authorName, content.title, content.text, content.linkURL,
                content.thumbnailURL, content.imageURL,
            ].reduce(0) { $0 + $1.utf8.count }
            if count > 0 && byteCount > query.byteLimit { break }
            count += 1
        }
        return isBackwards
            ? range.upperBound - count..<range.upperBound
            : range.lowerBound..<range.lowerBound + count
    }

    private mutating func readRank() throws {
        let id = anyID()
        let (order, window) = Self.lists.randomElement(using: &random) ?? (.top, nil)
        let result = Result { () throws(RankingError) in
            var allowance = RefreshAllowance(keyCount: shape.allowanceKeyCount)
            while true {
                let outcome = try store.rank(
                    of: PostID(rawValue: id),
                    order: order,
                    window: window,
                    allowance: &allowance
                )
                if outcome != .again { return outcome }
                allowance.renew()
            }
        }
        let list = list(model.posts[id]?.feed, order, window)
        switch result {
        case .success(let outcome):
            let rank = (list.firstIndex { $0.id == id } ?? -1) + 1
            let expected = RankOutcome.done(rank: UInt64(rank), total: UInt64(list.count))
            try expect(outcome == expected, "rank \(order) of \(id): \(outcome), not \(expected)")
        case .failure(let error):
            let isThere = model.posts[id] != nil && list.contains { $0.id == id }
            try expect(!isThere, "rank of \(id): \(error)")
        }
    }

    private mutating func readBatch() throws {
        var wanted: [PostID] = []
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            wanted.append(PostID(rawValue: anyID()))
        }
        var missing: [PostID] = []
        page.removeAll()
        let voter = voters.randomElement(using: &random)
        let count = store.posts(wanted, voter: voter, missing: &missing, into: &page)
        try expect(count == wanted.count, "batch: \(count) of \(wanted.count)")
        try expect(missing == wanted.filter { model.posts[$0.rawValue] == nil }, "batch: missing")
        try compareRows(wanted.compactMap { model.posts[$0.rawValue] }, voter: voter, "batch")
    }

    private mutating func readFeeds() throws {
        let counts = store.feeds().map(\.postCount)
        let expected = feeds.map { feed in
            UInt64(model.posts.values.count { $0.feed == feed.rawValue })
        }
        try expect(counts == expected, "feeds: \(counts), not \(expected)")
    }

    func compareRows(_ posts: [FeedModel.Post], voter: VoterID?, _ text: String) throws {
        try expect(
            page.rows.map(\.id.rawValue) == posts.map(\.id),
            "\(text): \(page.rows.map(\.id.rawValue)), not \(posts.map(\.id))"
        )
        for (row, post) in zip(page.rows, posts) {
            let texts = [row.authorName, row.title, row.text, row.linkURL, row.thumbnailURL]
            let content = post.content
            let vote = voter.flatMap { post.ballots[$0.rawValue] }
            try expect(
                texts.map { String(decoding: page.bytes($0), as: UTF8.self) } == [
                    content.authorName, content.title, content.text, content.linkURL,
                    content.thumbnailURL,
                ] && page.bytes(row.imageURL).elementsEqual(content.imageURL.utf8)
                    && row.commentCount == content.commentCount && row.score == post.score
                    && row.upvoteCount == post.upvotes && row.downvoteCount == post.downvotes
                    && row.feed.rawValue == post.feed && row.revision == post.revision
                    && row.createTimeMilliseconds == post.time
                    && row.updateTimeMilliseconds == post.updateTime && row.viewerVote == vote,
                "\(text): \(row), not \(post)"
            )
        }
    }
}

/// Pages that are kept as a service keeps them, and are compared as long as the store says that they have not
/// changed.
extension ModelRun {
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
