/// The first byte of a log entry; `docs/STORAGE.md` has the fields of each kind.
enum LogEntryKind {
    /// `LogEntry.counts`.
    static let counts: UInt8 = 1
    /// `LogEntry.ballot`.
    static let ballot: UInt8 = 2
    /// `LogEntry.post` of a post whose author has no account.
    static let post: UInt8 = 3
    /// `LogEntry.deletion`, the last of the first kinds that have a revision.
    static let deletion: UInt8 = 4
    /// `LogEntry.feed`.
    static let feed: UInt8 = 5
    /// `LogEntry.voter`.
    static let voter: UInt8 = 6
    /// `LogEntry.channel`.
    static let channel: UInt8 = 7
    /// `LogEntry.outcome` of `Outcome.done`.
    static let done: UInt8 = 8
    /// `LogEntry.outcome` of `Outcome.id`.
    static let outcomeID: UInt8 = 9
    /// `LogEntry.outcome` of `Outcome.items`.
    static let items: UInt8 = 10
    /// `LogEntry.counters`.
    static let counters: UInt8 = 11
    /// `LogEntry.userVoter`.
    static let userVoter: UInt8 = 12
    /// `LogEntry.account`.
    static let account: UInt8 = 13
    /// `LogEntry.session`.
    static let session: UInt8 = 14
    /// `LogEntry.sessionEnded`.
    static let sessionEnded: UInt8 = 15
    /// `LogEntry.sessionsEnded`.
    static let sessionsEnded: UInt8 = 16
    /// `LogEntry.post` of a post whose author has an account; it has a revision.
    static let authoredPost: UInt8 = 17
    /// `LogEntry.marks`; it has a revision.
    static let marks: UInt8 = 18
    /// `LogEntry.markThrough`; it has a revision.
    static let markThrough: UInt8 = 19
    /// `LogEntry.counts` with a sum of RISING; it has a revision.
    static let risingCounts: UInt8 = 20
    /// `LogEntry.ballot` with a sum of RISING; it has a revision.
    static let risingBallot: UInt8 = 21
    /// `LogEntry.post` with a sum of RISING, the last kind that has a revision.
    static let risingPost: UInt8 = 22

    /// Whether the kind is followed by the difference to the log's last revision.
    @inline(__always)
    static func hasRevision(_ kind: UInt8) -> Bool {
        kind &- counts <= deletion - counts || kind &- authoredPost <= risingPost - authoredPost
    }
}
