/// A level of held bytes in a ``BufferBudget``; above it, less is allowed.
///
/// The levels are listed from below. Each is a part of the budget's limit, and is compared with one
/// of two sums.
package enum BudgetLevel: CaseIterable {
    /// 1/8 of all bytes: a peak above it is remembered.
    case notable
    /// 1/4 of all bytes: above it connections are held to less than their own limits.
    case crowded
    /// 3/8, held for connections: above it hosts are limited to their share. Connections that take
    /// nothing are closed, and unfinished frames are kept within the share only.
    case sharing
    /// 1/2 of all bytes: above it answers that may be large are built only for hosts below their
    /// share.
    case answering
    /// 5/8, held for connections: above it they are closed even if they take their answers.
    case closing
    /// 3/4, held for connections: a host's unfinished frames have at most twice the bytes that are
    /// left below it.
    case unfinished
    /// 3/4 of all bytes: above it no answer that may be large is built, and only connections below
    /// their share are read from.
    case nearlyExhausted
    /// The limit, of all bytes: above it changes are refused.
    case exhausted

    /// A sum of held bytes.
    package enum Sum {
        /// The bytes that closing connections returns.
        case connections
        /// These and the bytes that the program reserves or keeps for later.
        case all
    }

    /// The sum that is compared with the level.
    @inline(__always)
    package var sum: Sum {
        switch self {
        case .sharing, .closing, .unfinished: .connections
        case .notable, .crowded, .answering, .nearlyExhausted, .exhausted: .all
        }
    }

    /// The bytes of the level, where the budget has a limit of `limitByteCount`.
    ///
    /// Inlined, so that a level named in the code costs a shift and a constant factor.
    @inline(__always)
    package func byteCount(ofLimit limitByteCount: Int) -> Int {
        switch self {
        case .notable: limitByteCount / 8
        case .crowded: limitByteCount / 4
        case .sharing: limitByteCount / 8 * 3
        case .answering: limitByteCount / 2
        case .closing: limitByteCount / 8 * 5
        case .unfinished, .nearlyExhausted: limitByteCount / 4 * 3
        case .exhausted: limitByteCount
        }
    }
}
