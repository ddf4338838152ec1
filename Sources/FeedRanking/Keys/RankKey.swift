/// The packed key of a post in an index: ascending keys are the order of the list.
///
/// Equal `primary` and `secondary` are decided by the full titles where `secondary` is a title's
/// first eight bytes and none of them is NUL (`PostTable.precedes`), then by the slot.
package struct RankKey: BitwiseCopyable, Equatable, Sendable {
    /// What decides almost always; highest first where it is inverted.
    package var primary: UInt64
    package var secondary: UInt64
    /// The post within its stripe, and the last to decide.
    package var slot: UInt32
    /// 1 for a place that is looked for and is no post: its title is the table's probe title.
    package var isProbe: UInt32

    /// A post's key, or a probe: a place between keys, which no index has.
    @inline(__always)
    package init(primary: UInt64, secondary: UInt64, slot: UInt32, isProbe: Bool = false) {
        self.primary = primary
        self.secondary = secondary
        self.slot = slot
        self.isProbe = isProbe ? 1 : 0
    }

    /// Maps an id below 2^56 to a second part that ascends where ids descend, and is no title.
    @inline(__always)
    package static func newestFirst(_ id: PostID) -> UInt64 { ~id.rawValue << 8 }

    static func titleBytes(prefix: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        for shift in stride(from: UInt64(56), through: 0, by: -8) where prefix >> shift & 255 > 0 {
            bytes.append(UInt8(truncatingIfNeeded: prefix >> shift))
        }
        return bytes
    }

    /// The key, or nil if its first part says that it is none.
    @inline(__always)
    var ifAny: RankKey? { primary == 0 ? nil : self }

    /// Whether only the full titles can decide between equal first eight bytes.
    @inline(__always)
    package static func titleDecides(_ secondary: UInt64) -> Bool { secondary & 0xFF != 0 }
}

/// What a list is sorted by; NEW and OLD share one kind.
package enum KeyKind: UInt8, BitwiseCopyable, CaseIterable, Sendable {
    /// Score, then title.
    case top
    /// Creation time; read backwards it is OLD.
    case new
    case hot
    case best
    case controversial
    case rising
    case discussed

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
