import FeedProto

/// An order of the copy's lists: the columns of its key, and their direction.
struct ListOrder {
    /// The column with the first part of the key.
    let column: String
    /// Whether the title comes before the id.
    let hasTitle: Bool
    /// Whether keys descend; the columns of all other orders than NEW ascend.
    let isDescending: Bool

    /// An order; TOP where none is named.
    init(_ order: Order) throws(OfflineError) {
        (column, hasTitle, isDescending) =
            switch order {
            case .unspecified, .top: ("top", true, false)
            case .new: ("created", false, true)
            case .old: ("created", false, false)
            case .hot: ("hot", false, false)
            case .best: ("best", false, false)
            case .controversial: ("controversial", false, false)
            case .discussed: ("discussed", false, false)
            default: throw .unsupportedOrder(order)
            }
    }

    /// The columns of the key, in their order.
    var columns: [String] { hasTitle ? [column, "title", "id"] : [column, "id"] }

    /// The values of a place, for ``columns``.
    func values(_ place: OfflinePlace) -> [OfflineDatabase.Value] {
        hasTitle
            ? [.int(place.key), .text(place.title), .id(place.id)]
            : [.int(place.key), .id(place.id)]
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
