/// How long to wait before the next try; a value without a clock.
///
/// The wait is random between zero and a limit, which doubles with each try up to a cap.
package struct Backoff: Sendable {
    private let base: Duration
    private let cap: Duration

    /// The waits of a policy.
    package init(_ policy: RetryPolicy) {
        base = max(policy.baseDelay.withinADay, .milliseconds(1))
        cap = max(policy.maximumDelay.withinADay, base)
    }

    /// The wait before try number `round`, from 1 on.
    package func delay(
        round: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let nanoseconds = Int64.random(in: 0...limit(round: round).nanoseconds, using: &generator)
        return .nanoseconds(nanoseconds)
    }

    /// The most that try number `round` waits.
    package func limit(round: Int) -> Duration {
        var limit = base
        for _ in 1..<max(round, 1) {
            guard limit < cap else { break }
            limit = limit * 2
        }
        return min(limit, cap)
    }
}
