package import FeedConcurrency
internal import Synchronization

/// Counts the connections of each identity, and keeps what is left of its limits.
///
/// The lock is taken when a connection comes, shows a key, or goes; requests use the allowance that the
/// connection holds. An identity without connections is forgotten once its buckets are full. Until
/// then their times are kept in tables of bounded size, so that a client gains nothing by coming anew.
package final class IdentityAdmission: Sendable {
    private struct Entry {
        let allowance: IdentityAllowance
        var connectionCount = 0
    }

    private struct State {
        var entries: [ClientIdentity: Entry] = [:]
        var votesFull = FullTimes()
        var callsFull = FullTimes()
    }

    package let limits: IdentityLimits
    private let clock: @Sendable () -> MonotonicInstant
    private let state = Lock(State())

    package init(
        _ limits: IdentityLimits,
        clock: @escaping @Sendable () -> MonotonicInstant = { MonotonicInstant.now }
    ) {
        self.limits = limits
        self.clock = clock
    }

    package var identityCount: Int { state.withLock { $0.entries.count } }

    /// Counts a connection of an identity; nil if it has as many as it may; O(1) on average.
    ///
    /// A connection whose key has become void is forced in, also above the limit. An identity may have
    /// as many as are left to all, so that a few hosts do not have them all.
    package func enter(
        _ identity: ClientIdentity,
        isForced: Bool = false,
        left: Int = .max
    ) -> IdentityAllowance? {
        state.withLock { state in
            var entry =
                state.entries[identity]
                ?? Entry(
                    allowance: IdentityAllowance(
                        identity,
                        limits,
                        votesFull: state.votesFull[identity] ?? 0,
                        callsFull: state.callsFull[identity] ?? 0
                    )
                )
            let limit = min(limits.connectionCount, max(1, left))
            guard isForced || limits.connectionCount == 0 || entry.connectionCount < limit else {
                return nil
            }
            entry.connectionCount += 1
            state.entries[identity] = entry
            return entry.allowance
        }
    }

    /// A connection with this allowance has gone, or has another identity now; O(1) on average.
    package func leave(_ allowance: IdentityAllowance) {
        let now = clock().nanoseconds
        state.withLock { state in
            guard var entry = state.entries[allowance.identity] else { return }
            entry.connectionCount -= 1
            guard entry.connectionCount == 0 else {
                state.entries[allowance.identity] = entry
                return
            }
            state.entries[allowance.identity] = nil
            let (votes, calls) = (allowance.votes.fullNanoseconds, allowance.calls.fullNanoseconds)
            if votes > now { state.votesFull.set(allowance.identity, votes, at: now) }
            if calls > now { state.callsFull.set(allowance.identity, calls, at: now) }
        }
    }
}

/// What is left of the limits of one identity, shared by its connections on all loops.
package final class IdentityAllowance: Sendable {
    package let identity: ClientIdentity
    package let votes: RateBucket
    package let calls: RateBucket

    fileprivate init(
        _ identity: ClientIdentity,
        _ limits: IdentityLimits,
        votesFull: UInt64,
        callsFull: UInt64
    ) {
        self.identity = identity
        votes = RateBucket(countPerSecond: limits.votesPerSecond, fullTime: votesFull)
        calls = RateBucket(countPerSecond: limits.callsPerSecond, fullTime: callsFull)
    }
}

/// What the callers of one identity may take together: of one key, or of one host without a key.
///
/// They hold for callers from other machines. 0 is no limit.
package struct IdentityLimits: Sendable, Equatable {
    /// The votes of a second, single ones and those of batches: what one loop counts of single votes in
    /// a fraction of that time.
    package var votesPerSecond = 100_000
    /// The other calls of a second, which cost up to some ten times as much as a vote.
    package var callsPerSecond = 20_000
    /// The connections at once: a fifth of all.
    package var connectionCount = 2_000
    /// Whether they hold for callers from this machine, too: behind a proxy, and in tests.
    package var limitsLoopback = false

    package init() {}

    package static var none: Self {
        var limits = Self()
        limits.votesPerSecond = 0
        limits.callsPerSecond = 0
        limits.connectionCount = 0
        return limits
    }
}

/// A bucket of tokens that refills steadily, for all loops and without a lock.
///
/// It is kept as the time at which it will be full (the generic cell rate algorithm), in one atomic
/// number: a loop takes the tokens of a whole run of votes with one exchange. A bucket for each loop
/// would save that exchange, and give a client with one connection one loop's part of its rate only.
package struct RateBucket: ~Copyable, Sendable {
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
    /// It will be full at `fullTime`, in nanoseconds of the clock; by default it is.
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
