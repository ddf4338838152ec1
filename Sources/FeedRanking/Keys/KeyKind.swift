/// What a list is sorted by; NEW and OLD share one kind.
package enum KeyKind: UInt8, BitwiseCopyable, CaseIterable, Sendable {
    /// Score, then title.
    case top
    /// Creation time.
    case new
    /// Reddit's hot rank.
    case hot
    /// Confidence in the share of upvotes.
    case best
    /// Many votes, up and down alike.
    case controversial
    /// Decayed rate of upvotes.
    case rising
    /// Number of comments.
    case discussed

    /// The kind that serves an order.
    package init(_ order: Order) {
        switch order {
        case .top: self = .top
        case .new, .old: self = .new
        case .hot: self = .hot
        case .best: self = .best
        case .controversial: self = .controversial
        case .rising: self = .rising
        case .discussed: self = .discussed
        }
    }

    /// The index of `StripeOrders` that is sorted so; nil where only a side list is.
    var index: IndexKind? {
        switch self {
        case .top: .top
        case .new: .new
        case .hot: .hot
        case .best, .controversial, .rising, .discussed: nil
        }
    }

    /// Whether a vote moves posts in it.
    var followsVotes: Bool {
        switch self {
        case .top, .hot, .best, .controversial, .rising: true
        case .new, .discussed: false
        }
    }
}
