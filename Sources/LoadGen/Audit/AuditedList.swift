/// A list that the audit walks in the order TOP, from its first page to its last.
struct AuditedList {
    /// The feed; empty is the front page over all feeds.
    var feed: String
    /// What the walk compares with; the scores are added when they are read.
    var expectation: FeedWalk.Expectation
    /// The posts of the run that the list has; nil means all of them.
    var ids: Set<UInt64>?
}
