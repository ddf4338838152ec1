/// The meaning of the program's exit code.
package enum ExitStatus: Int32, Sendable {
    /// The run went through and everything asked of it holds.
    case success = 0
    /// The run could not start, or lost connections.
    case failed = 1
    /// A flag is wrong.
    case usage = 2
    /// The audit, or the generator's own count of outcomes, does not add up.
    case auditFailed = 3
    /// A service level asked for with `--slo` was missed.
    case sloMissed = 99
}
