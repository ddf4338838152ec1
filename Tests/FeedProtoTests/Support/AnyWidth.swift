import FeedTestSupport

extension UInt64 {
    /// A number of any number of bits, half of the time 0.
    static func anyWidth(using random: inout SeededGenerator) -> UInt64 {
        guard Bool.random(using: &random) else { return 0 }
        let shift = UInt64.random(in: 0..<64, using: &random)
        return .random(in: 0 ... .max, using: &random) >> shift
    }
}
