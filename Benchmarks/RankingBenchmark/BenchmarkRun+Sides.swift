import FeedRanking

/// What lists on demand, snapshots and marks cost beside votes.
extension BenchmarkRun {
    private static let lists: [(name: String, order: Order, window: Window?)] = [
        ("BEST", .best, nil), ("CONTROVERSIAL", .controversial, nil), ("RISING", .rising, nil),
        ("DISCUSSED", .discussed, nil), ("TOP of a day", .top, .day),
    ]

    /// Builds, first pages, deep pages and the memory of lists, each after votes on all posts.
    mutating func measureSides() {
        let ids = VoteKeys.uniform.draw(4 * postCount, of: postCount, &random)
        for id in ids { _ = try? store.castVote(id, .up, at: weight) }
        for list in Self.lists {
            var query = PageQuery(feed: Self.feed, order: list.order, window: list.window, size: 20)
            let before = Measurement.residentByteCount()
            show("\(list.name): its first page", tries(query))
            showBytes("  a post", since: before)
            vote(ids)
            show("  the next, after votes on most posts", tries(query))
            query.start = .rank(UInt64(postCount / 2))
            show("  a deep page", tries(query))
            showBytes("  a post", since: before)
            vote(ids)
            show("  the next, after votes on most posts", tries(query))
        }
        measureSnapshots()
        measureMarks()
    }

    private func vote(_ ids: [PostID]) {
        for id in ids.prefix(2 * postCount) { _ = try? store.castVote(id, .up, at: weight) }
    }

    private func showBytes(_ name: String, since before: Int) {
        let bytes = Double(Measurement.residentByteCount() - before) / Double(postCount)
        Measurement.show(name, bytes, "bytes")
    }

    private func show(_ name: String, _ tries: [Int]) {
        Measurement.show(name, Double(tries.reduce(0, +)) / 1_000_000, "ms")
        let longest = Double(tries.max() ?? 0) / 1_000
        Measurement.show("    the longest of \(tries.count) tries", longest, "µs")
    }

    /// The processor time of each try of a page.
    private mutating func tries(_ query: PageQuery) -> [Int] {
        var allowance = RefreshAllowance()
        var tries: [Int] = []
        var outcome: PageOutcome? = .again
        while outcome == .again {
            let start = Measurement.processorNanoseconds()
            outcome = try? store.page(query, into: &page, allowance: &allowance)
            tries.append(Measurement.processorNanoseconds() - start)
            allowance.renew()
        }
        precondition(outcome == .done, "A page went wrong.")
        return tries
    }

    /// A snapshot of each list, and pages of it beside live pages.
    private mutating func measureSnapshots() {
        for list in Self.lists + [("TOP", .top, nil), ("NEW", .new, nil)] {
            var query = PageQuery(feed: Self.feed, order: list.order, window: list.window, size: 20)
            load(query)
            let live = Measurement.median { nanoseconds(query, count: 200) }
            query.stability = .stable(from: 0)
            // The clock of snapshots stands still, so a list gets one.
            let taking = nanoseconds(query, count: 1)
            Measurement.show("\(list.name): a snapshot", taking / 1_000, "µs")
            let stable = Measurement.median { nanoseconds(query, count: 200) }
            Measurement.show("  its first page", stable)
            if let next = page.next {
                query.start = .cursor(next)
                Measurement.show(
                    "  its second",
                    Measurement.median { nanoseconds(query, count: 200) }
                )
            }
            Measurement.show("  a live first page", live)
        }
        let usage = store.snapshotUsage
        Measurement.show("bytes a snapshot", Double(usage.byteCount / max(usage.count, 1)), "bytes")
    }

    private mutating func nanoseconds(_ query: PageQuery, count: Int) -> Double {
        let start = Measurement.processorNanoseconds()
        for _ in 0..<count { load(query) }
        return Double(Measurement.processorNanoseconds() - start) / Double(count)
    }

    /// Marks through the newest post and through older and older ones, and the count of unread posts.
    private func measureMarks() {
        var viewer: UInt32 = 0
        let perMark = Measurement.median {
            let start = Measurement.processorNanoseconds()
            for _ in 0..<10_000 {
                viewer += 1
                let last = PostID(rawValue: UInt64(postCount))
                try? store.mark(
                    through: last,
                    in: Self.feed,
                    as: .dismissed,
                    by: VoterID(rawValue: viewer)
                )
            }
            return Double(Measurement.processorNanoseconds() - start) / 10_000
        }
        Measurement.show("dismissing all posts", perMark)
        let perCount = Measurement.median {
            let start = Measurement.processorNanoseconds()
            for viewer in 1...1_000 as ClosedRange<UInt32> {
                var allowance = RefreshAllowance(keyCount: .max)
                _ = store.unreadCount(
                    in: Self.feed,
                    by: VoterID(rawValue: viewer),
                    allowance: &allowance
                )
            }
            return Double(Measurement.processorNanoseconds() - start) / 1_000
        }
        Measurement.show("the number of unread posts after that", perCount)
    }
}
