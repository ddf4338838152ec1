// Public and inlinable, as each vote computes keys: the compiler inlines no `package` function into another
// module.

/// Numbers as keys, which ascend along a list.
public enum OrderKey {
    /// Maps a number to one that ascends where the number descends.
    @inlinable
    @inline(__always)
    public static func descending(_ value: Int64) -> UInt64 {
        ~(UInt64(bitPattern: value) ^ (1 << 63))
    }

    /// The number that `descending(_:)` has mapped.
    @inlinable
    @inline(__always)
    public static func value(descending key: UInt64) -> Int64 {
        Int64(bitPattern: ~key ^ (1 << 63))
    }

    /// Maps a number to one that ascends where the number descends, and is not 0.
    @inlinable
    @inline(__always)
    public static func descending(notNegative value: Double) -> UInt64 { ~value.bitPattern }
}

/// A span of time before now; a list of a window has the posts created within it.
public enum Window: UInt8, CaseIterable, Sendable {
    case hour = 1
    case day
    case week
    case month
    case year

    /// Its length; months have 30 days.
    public var milliseconds: Int64 {
        let hour: Int64 = 3_600_000
        return switch self {
        case .hour: hour
        case .day: 24 * hour
        case .week: 7 * 24 * hour
        case .month: 30 * 24 * hour
        case .year: 365 * 24 * hour
        }
    }
}
