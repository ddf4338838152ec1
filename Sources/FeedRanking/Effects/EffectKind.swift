/// The first byte of an effect in a log; `docs/JOURNAL.md` has the fields of each kind.
enum EffectKind {
    /// `Effect.counts`.
    static let counts: UInt8 = 1
    /// `Effect.ballot`.
    static let ballot: UInt8 = 2
    /// `Effect.post`.
    static let post: UInt8 = 3
    /// `Effect.deletion`, the last kind that has a revision.
    static let deletion: UInt8 = 4
    /// `Effect.feed`.
    static let feed: UInt8 = 5
    /// `Effect.voter`.
    static let voter: UInt8 = 6
    /// `Effect.channel`.
    static let channel: UInt8 = 7
    /// `Effect.outcome` of `Outcome.done`.
    static let done: UInt8 = 8
    /// `Effect.outcome` of `Outcome.id`.
    static let outcomeID: UInt8 = 9
    /// `Effect.outcome` of `Outcome.items`.
    static let items: UInt8 = 10
    /// `Effect.epoch`.
    static let epoch: UInt8 = 11

    /// Whether the difference to the log's last revision stands behind the kind.
    @inline(__always)
    static func hasRevision(_ kind: UInt8) -> Bool {
        kind &- counts <= deletion - counts
    }
}
