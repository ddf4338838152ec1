import FeedRanking

extension BenchmarkRun {
    /// First pages, each after the votes of a millisecond or after none.
    mutating func measurePages() {
        let ids = VoteKeys.uniform.draw(2_000_000, of: postCount, &random)
        var next = 0
        for voteCount in [0, 40, 200, 2_500] {
            for order in [Order.top, .new, .hot] {
                let pageCount = voteCount == 0 ? 1_000 : 100_000 / voteCount
                // Reading the clock takes about as long as a part of a page: so several at once.
                let pagesAtOnce = voteCount == 0 ? 16 : 1
                let perPage = Measurement.median {
                    var used = 0
                    for _ in 0..<pageCount {
                        for _ in 0..<voteCount {
                            _ = try? store.castVote(ids[next], .up)
                            next = next + 1 == ids.count ? 0 : next + 1
                        }
                        let start = Measurement.processorNanoseconds()
                        for _ in 0..<pagesAtOnce { readFirst(order) }
                        used += Measurement.processorNanoseconds() - start
                    }
                    return Double(used) / Double(pageCount * pagesAtOnce)
                }
                Measurement.show("first page of \(order), \(voteCount) votes before", perPage)
            }
        }
    }

    /// Ranks and deep pages with everything refreshed.
    mutating func measureRanks() {
        let ids = VoteKeys.uniform.draw(3_000, of: postCount, &random)
        let perRank = Measurement.median {
            let start = Measurement.processorNanoseconds()
            for id in ids {
                var allowance = RefreshAllowance(keyCount: .max)
                _ = try? store.rank(of: id, order: .top, allowance: &allowance)
            }
            return Double(Measurement.processorNanoseconds() - start) / Double(ids.count)
        }
        Measurement.show("rank of a random post", perRank)
        let perPage = Measurement.median {
            let start = Measurement.processorNanoseconds()
            for id in ids.prefix(300) {
                let start = PageQuery.Start.rank(min(id.rawValue, UInt64(postCount - 20)))
                load(PageQuery(feed: Self.feed, order: .top, size: 20, start: start))
            }
            return Double(Measurement.processorNanoseconds() - start) / 300
        }
        Measurement.show("page at a random rank", perPage)
    }
}
