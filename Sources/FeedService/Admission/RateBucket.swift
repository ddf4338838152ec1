package import FeedConcurrency
internal import Synchronization

/// A bucket of tokens that refills steadily, for all loops and without a lock.
///
/// It is kept as the time at which it will be full (the generic cell rate algorithm), in one atomic
/// number: a loop takes the tokens of a whole run of votes with one exchange. A bucket for each loop
/// would save that exchange, and give a client with one connection one loop's part of its rate only.
package struct RateBucket: ~Copyable, Sendable {
    /// The longest time that a refused request is told to wait.
    package static let longestRetryTime = Duration.seconds(2)

    private static let second: UInt64 = 1_000_000_000

    /// The time that a token takes; 0 where there are always some.
    private let tokenTime: UInt64
    /// The time that an empty bucket takes to fill: a second, or that of one token.
    private let fillTime: UInt64
    private let fullTime: Atomic<UInt64>
    /// The last time that a refused request was told to come back at.
    private let promisedTime = Atomic<UInt64>(0)

    /// A bucket that gets so many tokens a second, and holds those of one second; 0 is no limit.
    ///
    /// - Parameters:
    ///   - countPerSecond: The tokens of a second.
    ///   - fullTime: When it will be full, in nanoseconds of the clock; by default it is full.
    package init(countPerSecond: Int, fullTime: UInt64 = 0) {
        precondition(countPerSecond >= 0, "A rate is not negative.")
        tokenTime = countPerSecond == 0 ? 0 : max(1, Self.second / UInt64(countPerSecond))
        fillTime = max(Self.second, tokenTime)
        self.fullTime = Atomic(fullTime)
    }

    /// When the bucket will be full, in nanoseconds of the clock.
    package var fullNanoseconds: UInt64 { fullTime.load(ordering: .relaxed) }

    /// Takes as many tokens as there are, at most `count`; returns how many.
    package func take(upTo count: Int, at now: MonotonicInstant) -> Int {
        let wanted = UInt64(count) * tokenTime
        let taken = take(at: now) { room in wanted <= room ? wanted : room - room % tokenTime }
        // Most runs fit, and a division takes longer than all else here.
        return taken == wanted ? count : Int(taken / tokenTime)
    }

    /// Takes all tokens of a request where there is at least one, those that lack from the time to come.
    ///
    /// So a request of more tokens than a bucket holds is served some time, and the rate is kept.
    package func takeWhole(_ count: Int, at now: MonotonicInstant) -> Bool {
        tokenTime == 0
            || take(at: now) { room in room < tokenTime ? 0 : UInt64(count) * tokenTime } != 0
    }

    /// Puts tokens back that were taken and not used.
    package func giveBack(_ count: Int) {
        fullTime.wrappingSubtract(UInt64(count) * tokenTime, ordering: .relaxed)
    }

    /// The time after which a refused request may come back, when there is a token for it.
    ///
    /// The requests that were refused before it have the tokens before its own. So clients that heed the
    /// answers come back one after another and not all at once.
    package func retryTime(at now: MonotonicInstant) -> Duration {
        let now = now.nanoseconds
        let full = max(now, fullTime.load(ordering: .relaxed))
        let free = full + tokenTime > now + fillTime ? full + tokenTime - fillTime : now
        let latest = now + UInt64(Self.longestRetryTime / .nanoseconds(1))
        var promised = promisedTime.load(ordering: .relaxed)
        while true {
            let time = min(latest, max(free, promised + tokenTime))
            let (isExchanged, current) = promisedTime.compareExchange(
                expected: promised,
                desired: time,
                ordering: .relaxed
            )
            if isExchanged { return .nanoseconds(Int64(time - now)) }
            promised = current
        }
    }

    /// Takes what `choose` makes of the time that the tokens in the bucket stand for; 0 without a limit.
    @inline(__always)
    private func take(at now: MonotonicInstant, _ choose: (UInt64) -> UInt64) -> UInt64 {
        guard tokenTime != 0 else { return 0 }
        let now = now.nanoseconds
        var full = fullTime.load(ordering: .relaxed)
        while true {
            let start = max(full, now)
            let taken = choose(start < now + fillTime ? now + fillTime - start : 0)
            guard taken > 0 else { return 0 }
            let (isExchanged, current) = fullTime.compareExchange(
                expected: full,
                desired: start + taken,
                ordering: .relaxed
            )
            if isExchanged { return taken }
            full = current
        }
    }
}
