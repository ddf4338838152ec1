/// A span of time before now; a list of a window has the posts created within it.
package enum Window: UInt8, CaseIterable, Sendable {
    /// 60 minutes.
    case hour = 1
    /// 24 hours.
    case day
    /// 7 days.
    case week
    /// 30 days.
    case month
    /// 365 days.
    case year

    /// The length of the window.
    package var milliseconds: Int64 {
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
