/// How long to wait before the next try: 50 ms, doubled with each failed try up to 1 s.
///
/// Part of the delay is random, so that many connections lost at once do not return at once.
package enum Backoff {
    /// The wait before try number `round`, from 1 on, in nanoseconds: between half of its delay and
    /// all of it.
    package static func nanoseconds(
        round: Int,
        using generator: inout some RandomNumberGenerator
    ) -> UInt64 {
        let doublings = min(max(round, 1) - 1, 10)
        let delay = min(firstNanoseconds << UInt64(doublings), longestNanoseconds)
        return UInt64.random(in: delay / 2...delay, using: &generator)
    }

    private static let firstNanoseconds: UInt64 = 50_000_000
    private static let longestNanoseconds: UInt64 = 1_000_000_000
}
