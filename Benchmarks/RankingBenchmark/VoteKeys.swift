import FeedRanking
import FeedTestSupport
import Glibc

/// Which posts the votes go to, drawn before they are cast.
enum VoteKeys: String, CaseIterable {
    case uniform = "uniform"
    /// Zipf with exponent 0.99, the frequent ones scattered over the ids.
    case zipf = "zipf 0.99"

    /// So many posts of ids 1 to `postCount`.
    func draw(_ count: Int, of postCount: Int, _ random: inout SeededGenerator) -> [PostID] {
        let ranks: [Int]
        switch self {
        case .uniform:
            return (0..<count).map { _ in
                PostID(rawValue: UInt64.random(in: 1...UInt64(postCount), using: &random))
            }
        case .zipf: ranks = Self.zipf(count, of: postCount, &random)
        }
        return ranks.map { PostID(rawValue: UInt64($0 &* 7_368_787 % postCount) + 1) }
    }

    /// Ranks from 0, by the approximate inverse of Gray et al., "Quickly Generating Billion-Record
    /// Synthetic Databases" (1994).
    private static func zipf(
        _ count: Int,
        of postCount: Int,
        _ random: inout SeededGenerator
    ) -> [Int] {
        let exponent = 0.99
        var zeta = 0.0
        for rank in 1...postCount { zeta += pow(Double(rank), -exponent) }
        let second = 1 + pow(0.5, exponent)
        let eta =
            (1 - pow(2 / Double(postCount), 1 - exponent)) / (1 - second / zeta)
        return (0..<count).map { _ in
            let share = Double.random(in: 0..<1, using: &random)
            if share * zeta < 1 { return 0 }
            if share * zeta < second { return 1 }
            let place = Double(postCount) * pow(eta * share - eta + 1, 1 / (1 - exponent))
            return min(Int(place), postCount - 1)
        }
    }
}
