package import FeedRanking

/// The redo of one write in a log: the values after the write.
///
/// Replay puts the values back without a clock or random numbers.
/// An entry with a revision has the values of its key as of that revision. So an entry that is
/// applied twice, or after a newer one, changes nothing.
package enum LogEntry: Equatable, Sendable {
    /// A vote that a tally counted.
    case counts(PostCounts)
    /// A voter's ballot, nil where it was withdrawn, and the counts with it.
    case ballot(PostCounts, VoterID, VoteDirection?)
    /// A post as it was created, imported, edited or corrected.
    ///
    /// It is indirect, as a feed is, so that frequent entries are moved without room for texts.
    indirect case post(PostState)
    /// A post was deleted for good.
    case deletion(PostID, revision: UInt64)
    /// A feed and its rules.
    indirect case feed(FeedID, FeedPolicy)
    /// A voter's device.
    case voter(VoterID, device: Device16)
    /// A channel was seen for the first time.
    case channel(ChannelState)
    /// The outcome of a numbered call.
    case outcome(ChannelOutcome)
    /// The latest id and the latest revision given are at least these.
    case counters(lastID: UInt64, revision: UInt64)

    /// The revision that orders the entry in its commit batch; nil for an entry without one.
    package var revision: UInt64? {
        switch self {
        case .counts(let counts), .ballot(let counts, _, _): counts.revision
        case .post(let post): post.counts.revision
        case .deletion(_, let revision): revision
        case .feed, .voter, .channel, .outcome, .counters: nil
        }
    }
}
