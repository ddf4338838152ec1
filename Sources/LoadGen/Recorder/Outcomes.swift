/// The outcomes of the requests of a run, all phases included.
package struct Outcomes: Sendable, Equatable {
    /// Passed to a connection.
    package var sent: UInt64 = 0
    /// Answered with success.
    package var ok: UInt64 = 0
    /// Answered with an error.
    package var error: UInt64 = 0
    /// Unanswered within `--timeout`; the outcome is unknown.
    package var timeout: UInt64 = 0
    /// Unanswered when its connection or the run ended; the outcome is unknown.
    package var lost: UInt64 = 0

    /// Nothing sent.
    package init() {}

    /// Whether every request sent has exactly one outcome.
    package var isConserved: Bool { sent == ok + error + timeout + lost }

    /// Requests whose effect is unknown.
    package var unknown: UInt64 { timeout + lost }

    /// The requests of both.
    package static func + (one: Outcomes, other: Outcomes) -> Outcomes {
        var sum = one
        sum.sent += other.sent
        sum.ok += other.ok
        sum.error += other.error
        sum.timeout += other.timeout
        sum.lost += other.lost
        return sum
    }
}
