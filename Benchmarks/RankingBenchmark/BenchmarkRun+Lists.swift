import FeedRanking

/// The cost of votes while lists are read once a second.
extension BenchmarkRun {
    /// Votes with no list read, with the first pages of TOP, NEW and HOT read once a second, and with
    /// those of every order and window.
    mutating func measureLists() {
        let basic: [(Order, Window?)] = [(.top, nil), (.new, nil), (.hot, nil)]
        var all: [(Order, Window?)] = Order.allCases.map { ($0, nil) }
        for order in Order.allCases where order.allowsWindow {
            all += Window.allCases.map { (order, $0) }
        }
        for (name, lists) in [("no list", []), ("TOP, NEW and HOT", basic), ("every list", all)] {
            for flight in Flight.all {
                let ids = VoteKeys.uniform.draw(4_000_000, of: postCount, &random)
                let perVote = Measurement.median {
                    let start = Measurement.processorNanoseconds()
                    castVotes(ids, flight, reading: lists)
                    return Double(Measurement.processorNanoseconds() - start) / Double(ids.count)
                }
                Measurement.show("vote, \(flight.requestCount) at once, \(name) read", perVote)
            }
        }
    }

    /// Casts votes, and reads the lists in turn, so that each is read once in a second's votes.
    private mutating func castVotes(
        _ ids: [PostID],
        _ flight: Flight,
        reading lists: [(order: Order, window: Window?)]
    ) {
        var due: [PostID] = []
        let interval = flight.votesPerMillisecond * 1_000 / max(lists.count, 1)
        var nextRead = interval
        var list = 0
        for first in stride(from: 0, to: ids.count, by: flight.requestCount) {
            let batch = first..<min(first + flight.requestCount, ids.count)
            castVotes(ids, batch, &due)
            for id in due { store.refresh(stripeOf: id) }
            due.removeAll(keepingCapacity: true)
            guard first >= nextRead, !lists.isEmpty else { continue }
            nextRead += interval
            let (order, window) = lists[list % lists.count]
            load(PageQuery(feed: Self.feed, order: order, window: window, size: 20))
            list += 1
        }
    }
}
