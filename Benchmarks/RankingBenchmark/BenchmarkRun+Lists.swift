import FeedRanking

/// A list that is read.
private struct ReadList {
    var order: Order
    var window: Window?

    static let basic = [Order.top, .new, .hot].map { ReadList(order: $0) }
    static let all =
        Order.allCases.map { ReadList(order: $0) }
        + Order.allCases.filter(\.allowsWindow).flatMap { order in
            Window.allCases.map { ReadList(order: order, window: $0) }
        }
}

/// The cost of votes while lists are read once a second.
extension BenchmarkRun {
    /// Votes with the first pages of TOP, NEW and HOT read once a second, and with those of every
    /// order and window, in turn on two stores.
    mutating func measureLists() {
        var other = BenchmarkRun(postCount: postCount)
        for keys in VoteKeys.allCases {
            for votesPerMillisecond in [2_500, 625] {
                let flight = Flight(requestCount: 64, votesPerMillisecond: votesPerMillisecond)
                let ids = keys.draw(votesPerMillisecond * 2_000, of: postCount, &random)
                var pairs: [(basic: Double, all: Double)] = []
                for round in 0...Measurement.roundCount {
                    let all = other.nanosecondsPerVote(ids, flight, reading: ReadList.all)
                    let basic = nanosecondsPerVote(ids, flight, reading: ReadList.basic)
                    // The first round builds the lists.
                    if round > 0 { pairs.append((basic, all)) }
                }
                let name = "vote, \(keys.rawValue), \(votesPerMillisecond) a millisecond"
                Measurement.show(name, Measurement.middle(pairs.map(\.basic)))
                Measurement.show("  with every list", Measurement.middle(pairs.map(\.all)))
                let ratios = pairs.map { 100 * $0.all / $0.basic }
                Measurement.show("  the multiple", Measurement.middle(ratios), "%")
            }
        }
    }

    /// Casts votes, and reads the lists in turn, so that each is read once in a second's votes.
    private mutating func nanosecondsPerVote(
        _ ids: [PostID],
        _ flight: Flight,
        reading lists: [ReadList]
    ) -> Double {
        let start = Measurement.processorNanoseconds()
        var due: [PostID] = []
        let interval = flight.votesPerMillisecond * 1_000 / lists.count
        var nextRead = interval
        var list = 0
        for first in stride(from: 0, to: ids.count, by: flight.requestCount) {
            let batch = first..<min(first + flight.requestCount, ids.count)
            castVotes(ids, batch, &due)
            for id in due { store.refresh(stripeOf: id) }
            due.removeAll(keepingCapacity: true)
            guard first >= nextRead else { continue }
            nextRead += interval
            let next = lists[list % lists.count]
            load(PageQuery(feed: Self.feed, order: next.order, window: next.window, size: 20))
            list += 1
        }
        return Double(Measurement.processorNanoseconds() - start) / Double(ids.count)
    }
}
