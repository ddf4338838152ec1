import Synchronization

/// What a run at several services saw of their failures.
package struct Failover: Sendable, Equatable {
    /// The longest time in nanoseconds, of the measured one, in which no change was answered, over all
    /// connections.
    package var longestGap: UInt64
    /// How often another service led than before, as of the answers to Hello, in the whole run.
    package var leaderChangeCount: UInt64

    package init(longestGap: UInt64 = 0, leaderChangeCount: UInt64 = 0) {
        self.longestGap = longestGap
        self.leaderChangeCount = leaderChangeCount
    }

    /// What two generators saw of the same services: a time in which neither had an answer is no longer than
    /// the shorter of the two.
    package mutating func add(_ other: Failover) {
        longestGap = min(longestGap, other.longestGap)
        leaderChangeCount = max(leaderChangeCount, other.leaderChangeCount)
    }
}

extension Failover {
    static let members: [Member<Failover>] = [
        .required(
            "longest_gap_ms",
            \.longestGap,
            Form(
                write: { Double($0) / 1e6 },
                read: { milliseconds, _ in UInt64(max(0, min(milliseconds, 1e12)) * 1e6) }
            )
        ),
        .required("leader_changes", \.leaderChangeCount, .count),
    ]
}

/// Where all connections of a run, on any thread, note the answers to changes and the leader.
package final class FailoverMeter: Sendable {
    /// When the last change was answered; 0 before the first one of the measured time.
    private let lastAnswer = Atomic<UInt64>(0)
    private let longestGap = Atomic<UInt64>(0)
    private let leader = Atomic<Int>(-1)
    private let leaderChangeCount = Atomic<UInt64>(0)

    package init() {}

    /// A change was answered at an instant; what lies outside of the measured time does not count.
    package func answered(at now: UInt64, from start: UInt64, until end: UInt64) {
        guard now >= start, now < end else { return }
        // Threads may come here in another order than their answers: the later answer stays.
        let before = lastAnswer.max(now, ordering: .relaxed).oldValue
        let since = max(before, start)
        if now > since { longestGap.max(now - since, ordering: .relaxed) }
    }

    /// A connection has found that a service leads, by its number.
    package func found(leader number: Int) {
        let before = leader.exchange(number, ordering: .relaxed)
        if before >= 0, before != number { leaderChangeCount.wrappingAdd(1, ordering: .relaxed) }
    }

    /// What was seen of the measured time, which ends without an answer as well.
    package func result(from start: UInt64, until end: UInt64) -> Failover {
        let since = max(lastAnswer.load(ordering: .relaxed), start)
        let rest = end > since ? end - since : 0
        return Failover(
            longestGap: max(longestGap.load(ordering: .relaxed), rest),
            leaderChangeCount: leaderChangeCount.load(ordering: .relaxed)
        )
    }
}
