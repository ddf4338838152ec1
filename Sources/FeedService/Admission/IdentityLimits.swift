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

    /// The limits for callers from other machines.
    package init() {}

    /// No limits at all.
    package static var none: Self {
        var limits = Self()
        limits.votesPerSecond = 0
        limits.callsPerSecond = 0
        limits.connectionCount = 0
        return limits
    }
}
