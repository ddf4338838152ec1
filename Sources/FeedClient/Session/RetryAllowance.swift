/// How many calls may still be sent again: a share of the calls that were sent first.
///
/// A service that refuses most calls gets little more than their number, instead of a multiple.
package struct RetryAllowance: Sendable {
    private let ratio: Double
    private let burst: Double
    private var balance: Double

    /// A full allowance.
    package init(_ policy: RetryPolicy) {
        ratio = max(0, policy.budgetRatio)
        burst = Double(max(0, policy.budgetBurst))
        balance = burst
    }

    /// Counts a call that is sent for the first time.
    package mutating func deposit() {
        balance = min(burst, balance + ratio)
    }

    /// Pays for sending a call again; false, and nothing paid, where less than one call is left.
    package mutating func withdraw() -> Bool {
        guard balance >= 1 else { return false }
        balance -= 1
        return true
    }
}
