/// What a list is sorted by; NEW and OLD share one kind.
package enum KeyKind: UInt8, BitwiseCopyable, CaseIterable, Sendable {
    /// Score, then title.
    case top
    /// Creation time; read backwards it is OLD.
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

    /// The kinds whose lists of all time are never dropped, in the order in which a job passes them.
    @inline(__always)
    static var standing: [KeyKind] { [.top, .new, .hot] }

    /// Whether the list of all time is never dropped.
    @inline(__always)
    var isStanding: Bool { rawValue <= Self.hot.rawValue }

    /// The standing kind that a job passes next; nil behind the last.
    var nextStanding: KeyKind? {
        isStanding && self != .hot ? KeyKind(rawValue: rawValue + 1) : nil
    }

    /// Whether a vote moves posts in it.
    @inline(__always)
    var followsVotes: Bool { self != .new && self != .discussed }
}
