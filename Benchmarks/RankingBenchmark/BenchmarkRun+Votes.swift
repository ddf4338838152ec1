import FeedRanking

/// How the service is asked: so many requests of a connection at once, and the votes that it
/// then executes in a millisecond.
struct Flight {
    let requestCount: Int
    let votesPerMillisecond: Int

    static let all = [
        Flight(requestCount: 1, votesPerMillisecond: 200),
        Flight(requestCount: 16, votesPerMillisecond: 1_500),
        Flight(requestCount: 64, votesPerMillisecond: 2_500),
    ]
}

/// Where the time of some votes went.
private struct VoteTimes {
    var total = 0.0
    var casting = 0.0
    var pages = 0.0
    var refresh = 0.0
    var longestRefresh = 0.0
}

extension BenchmarkRun {
    /// Votes in batches, as a connection's requests are read; a refresh follows a batch.
    mutating func measureVotes() {
        for keys in VoteKeys.allCases {
            // So many votes first that the numbers of stale posts no longer rise.
            var warmed = 0
            while warmed < 2 * postCount {
                _ = castVotes(draw(keys), Flight.all[2])
                warmed += Self.roundVoteCount
            }
            for flight in Flight.all {
                var rounds: [VoteTimes] = []
                for _ in 0..<Measurement.roundCount {
                    rounds.append(castVotes(draw(keys), flight))
                }
                rounds.sort { $0.total < $1.total }
                show(rounds[rounds.count / 2], keys, flight)
            }
        }
    }

    private static let roundVoteCount = 2_000_000

    private mutating func draw(_ keys: VoteKeys) -> [PostID] {
        keys.draw(Self.roundVoteCount, of: postCount, &random)
    }

    private func show(_ times: VoteTimes, _ keys: VoteKeys, _ flight: Flight) {
        let name = "vote, \(keys.rawValue), \(flight.requestCount) at once"
        Measurement.show(name, times.total)
        Measurement.show("  the vote itself", times.casting)
        Measurement.show("  its share of the pages", times.pages)
        Measurement.show("  its share of refreshing", times.refresh)
        Measurement.show("  the longest refresh step", times.longestRefresh / 1_000, "µs")
    }

    private mutating func castVotes(_ ids: [PostID], _ flight: Flight) -> VoteTimes {
        var times = VoteTimes()
        var due: [PostID] = []
        var votesSincePages = 0
        let start = Measurement.processorNanoseconds()
        for first in stride(from: 0, to: ids.count, by: flight.requestCount) {
            let batch = first..<min(first + flight.requestCount, ids.count)
            castVotes(ids, batch, &due)
            if !due.isEmpty { refresh(&due, &times) }
            votesSincePages += batch.count
            if votesSincePages >= flight.votesPerMillisecond {
                votesSincePages = 0
                let before = Measurement.processorNanoseconds()
                for order in [Order.top, .new, .hot] { readFirst(order) }
                times.pages += Double(Measurement.processorNanoseconds() - before)
            }
        }
        let count = Double(ids.count)
        times.total = Double(Measurement.processorNanoseconds() - start) / count
        times.pages /= count
        times.refresh /= count
        times.casting = times.total - times.pages - times.refresh
        return times
    }

    func castVotes(_ ids: [PostID], _ batch: Range<Int>, _ due: inout [PostID]) {
        if batch.count > 1 {
            for index in batch { store.prefetch(ids[index]) }
        }
        for index in batch {
            // Three of four votes are up.
            let direction: VoteDirection = index & 3 == 0 ? .down : .up
            if let outcome = try? store.castVote(ids[index], direction, at: weight),
                outcome.refreshIsDue
            {
                due.append(ids[index])
            }
        }
    }

    private func refresh(_ due: inout [PostID], _ times: inout VoteTimes) {
        for id in due {
            let before = Measurement.processorNanoseconds()
            store.refresh(stripeOf: id)
            let used = Double(Measurement.processorNanoseconds() - before)
            times.refresh += used
            times.longestRefresh = max(times.longestRefresh, used)
        }
        due.removeAll(keepingCapacity: true)
    }

    /// A stripe with its share of votes, then a request that needs all of it in order.
    mutating func measureRefresh() {
        let stripePostCount = postCount / 16
        for share in [100, 8, 4, 2, 1] {
            let count = stripePostCount / share
            let perVote = Measurement.median {
                readDeep()
                for number in 0..<count {
                    let id = PostID(rawValue: UInt64(number * share % stripePostCount * 16 + 16))
                    _ = try? store.castVote(id, number & 3 == 0 ? .down : .up, at: weight)
                }
                let start = Measurement.processorNanoseconds()
                readDeep()
                return Double(Measurement.processorNanoseconds() - start)
            }
            let name = "refresh of a stripe, 1 post of \(share) stale"
            Measurement.show(name, perVote / 1_000, "µs")
        }
    }

    private mutating func readDeep() {
        let start = PageQuery.Start.rank(UInt64(postCount / 2))
        load(PageQuery(feed: Self.feed, order: .top, size: 20, start: start))
    }
}
