package import FeedProto

/// How many calls may still be sent again: a share of the calls that were sent first.
///
/// A service that refuses most calls gets little more than their number, instead of a multiple.
package struct RetryAllowance: Sendable {
    private let ratio: Double
    private let burst: Double
    private var balance: Double

    package init(_ policy: RetryPolicy) {
        ratio = max(0, policy.budgetRatio)
        burst = Double(max(0, policy.budgetBurst))
        balance = burst
    }

    /// Counts a call that is sent for the first time.
    package mutating func deposit() { balance = min(burst, balance + ratio) }

    /// Pays for sending a call again; false, and nothing paid, if less than one call is left.
    package mutating func withdraw() -> Bool {
        guard balance >= 1 else { return false }
        balance -= 1
        return true
    }
}

/// How long to wait before the next try; a value without a clock.
///
/// The wait is random between zero and a limit, which doubles with each try up to a cap.
package struct Backoff: Sendable {
    private let base: Duration
    private let cap: Duration

    package init(_ policy: RetryPolicy) {
        base = max(policy.baseDelay.withinADay, .milliseconds(1))
        cap = max(policy.maximumDelay.withinADay, base)
    }

    /// The wait before try number `round`, from 1 on.
    package func delay(round: Int, using generator: inout some RandomNumberGenerator) -> Duration {
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

extension Status {
    /// Whether the same call may succeed a little later: the service did not execute it, for a
    /// cause that passes.
    ///
    /// A backup that is under way takes minutes, and a table that is full stays full for longer than a call.
    package var isTemporary: Bool {
        guard isNotExecuted else { return false }
        switch reason {
        case .overloaded, .readOnly, .rateLimited, .tooManyConnections, .tooManyChannels,
            .draining, .clockJumped, .notLeader, .notCaughtUp, .staleReplica:
            return code == .resourceExhausted || code == .unavailable
        default:
            return false
        }
    }

    /// Whether another service of the cluster may answer the call at once.
    package var isForOthers: Bool {
        switch reason {
        case .notLeader, .notCaughtUp, .staleReplica: code == .unavailable
        default: false
        }
    }

    package var advisedDelay: Duration { .milliseconds(Int64(retryAfterMilliseconds)) }

    /// The status of a connection, or of one try, as the status of a call: what it says of
    /// execution concerns the connection or the try, not the call.
    func ofCall(effect: CallEffect) -> Status {
        var status = self
        status.isNotExecuted = effect == .none
        return status
    }
}
