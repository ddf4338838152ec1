package import Logging

/// How much a refusal of a call matters to an operator.
package enum RefusalLevel {
    /// Refusals for which a right was missing, or a limit was reached whose name does not say so.
    ///
    /// READ_ONLY and CLOCK_JUMPED are not among them: lines of their own say when each begins and ends.
    private static let warnings: Set<String> = [
        "DEADLINE_EXCEEDED", "INTERNAL", "NO_ROOM_FOR_POSTS", "NOT_DURABLE", "OVERLOADED",
        "RATE_LIMITED", "SERVICE_ONLY",
    ]

    /// The level of the line for a refusal with this reason.
    package static func of(_ reason: String) -> Logger.Level {
        warnings.contains(reason) || reason.hasPrefix("TOO_MANY_") ? .warning : .debug
    }
}
