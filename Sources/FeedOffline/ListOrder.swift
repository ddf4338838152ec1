import FeedClient
import FeedOrders
import FeedProto

/// An order of the copy's lists: the columns of its key, and their direction.
struct ListOrder {
    /// The column with the first part of the key.
    let column: String
    /// The first part of a post's key.
    private let key: @Sendable (ListKeys) -> Int64
    /// Whether the title comes before the id.
    let hasTitle: Bool
    /// Whether keys descend; the columns of all other orders than NEW ascend.
    let isDescending: Bool

    /// An order; TOP where none is named.
    init(_ order: FeedProto.Order) throws(OfflineError) {
        (column, key, hasTitle, isDescending) =
            switch order {
            case .unspecified, .top: ("top", { $0.top }, true, false)
            case .new: ("created", { $0.created }, false, true)
            case .old: ("created", { $0.created }, false, false)
            case .hot: ("hot", { $0.hot }, false, false)
            case .best: ("best", { $0.best }, false, false)
            case .controversial: ("controversial", { $0.controversial }, false, false)
            case .discussed: ("discussed", { $0.discussed }, false, false)
            default: throw .unsupportedOrder(order)
            }
    }

    /// The place of a post with the keys that it has.
    func place(of post: FeedProto.Post, _ keys: ListKeys) -> OfflinePlace {
        OfflinePlace(key: key(keys), title: hasTitle ? post.title : "", id: post.id)
    }

    /// The condition of rows up to a place, and those behind it; its values are those of the place.
    func condition(upTo place: OfflinePlace, isBehind: Bool) -> String {
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let comparison = isBehind ? (isDescending ? "<" : ">") : (isDescending ? ">=" : "<=")
        return "(\(columns.joined(separator: ", "))) \(comparison) (\(marks))"
    }

    /// The columns as a list is sorted by them.
    var sorting: String {
        columns.map { isDescending ? $0 + " DESC" : $0 }.joined(separator: ", ")
    }

    var columns: [String] { hasTitle ? [column, "title", "id"] : [column, "id"] }

    func values(_ place: OfflinePlace) -> [OfflineDatabase.Value] {
        hasTitle
            ? [.int(place.key), .text(place.title), .id(place.id)]
            : [.int(place.key), .id(place.id)]
    }

    /// The first one of two places; nil of none.
    func first(of place: OfflinePlace?, _ other: OfflinePlace?) -> OfflinePlace? {
        guard let place, let other else { return place ?? other }
        return precedes(other, place) ? other : place
    }

    /// Whether a place comes before another one.
    func precedes(_ first: OfflinePlace, _ second: OfflinePlace) -> Bool {
        isDescending ? ascends(second, first) : ascends(first, second)
    }

    private func ascends(_ first: OfflinePlace, _ second: OfflinePlace) -> Bool {
        if first.key != second.key { return first.key < second.key }
        // By bytes, as SQLite and the service compare: two texts with equal characters may differ.
        if hasTitle, !first.title.utf8.elementsEqual(second.title.utf8) {
            return first.title.utf8.lexicographicallyPrecedes(second.title.utf8)
        }
        return first.id < second.id
    }
}

/// The keys of a post, each a number that ascends along its order, as the service computes them.
///
/// A service keeps times in 0 to 2^51 and counts far below 2^62. Beyond, the sums would overflow, so the
/// numbers of a damaged or hostile one count as the nearest of these.
struct ListKeys {
    let top: Int64
    let hot: Int64
    let best: Int64
    let controversial: Int64
    let discussed: Int64
    let created: Int64

    init(_ post: FeedProto.Post) {
        let time = min(max(post.createTimeMilliseconds, 0), HotRank.maximumTimeMilliseconds)
        let hotRank = HotRank.key(score: post.score, createTimeMilliseconds: time)
        let (up, down) = (min(post.upvoteCount, 1 << 62), min(post.downvoteCount, 1 << 62))
        let confidence = ConfidenceRank.value(upvoteCount: up, downvoteCount: down)
        let controversy = ControversyRank.value(upvoteCount: up, downvoteCount: down)
        top = Self.ascending(OrderKey.descending(post.score))
        hot = Self.ascending(OrderKey.descending(hotRank))
        best = Self.ascending(OrderKey.descending(notNegative: confidence))
        controversial = Self.ascending(OrderKey.descending(notNegative: controversy))
        discussed = Self.ascending(OrderKey.descending(Int64(clamping: post.commentCount)))
        created = post.createTimeMilliseconds
    }

    /// The key of the service as a number of SQLite, which has a sign.
    private static func ascending(_ key: UInt64) -> Int64 { Int64(bitPattern: key ^ (1 << 63)) }
}

extension PostList {
    /// The time that the list's posts were created after, where it is read at `milliseconds`; nil is any.
    func windowStart(at milliseconds: Int64) -> Int64? {
        // The service's windows have the numbers of the contract.
        FeedOrders.Window(rawValue: UInt8(clamping: window.rawValue))
            .map { milliseconds - $0.milliseconds }
    }
}
