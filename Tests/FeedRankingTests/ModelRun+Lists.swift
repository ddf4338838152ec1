import FeedRanking
import FeedRankingModel
import Synchronization

extension ModelRun {
    /// All orders, and those that allow one in each window.
    static let lists: [(Order, Window?)] =
        Order.allCases.map { ($0, nil) }
        + Order.allCases.filter(\.allowsWindow).flatMap { order in
            Window.allCases.map { (order, $0) }
        }

    /// The posts of a list that is read now.
    mutating func list(
        _ feed: UInt32?,
        _ order: Order,
        _ window: Window?
    ) -> [FeedModel.Post] {
        let now = clock.milliseconds.load(ordering: .relaxed)
        // A store reads the time for lists that it makes on demand, and for no others.
        let isOnDemand = window != nil || ![.top, .new, .old, .hot].contains(order)
        let end = isOnDemand ? model.windowTime(at: now) : 0
        return model.list(feed, order, window, endingAt: end)
    }
}
