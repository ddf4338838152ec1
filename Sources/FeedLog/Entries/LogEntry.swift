package import FeedAccounts
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
    /// A voter's user.
    case userVoter(VoterID, userID: UInt64)
    /// An account.
    indirect case account(AccountRow)
    /// A session that began, or that expires later now.
    case session(SessionRow)
    /// A session has ended; its token never comes back.
    case sessionEnded(TokenHash)
    /// All sessions of a user below a generation have ended.
    case sessionsEnded(userID: UInt64, generation: UInt64)
    /// The marks of a viewer on a post.
    case marks(PostMarks)
    /// A mark of a viewer on all posts up to one.
    case markThrough(MarkThrough)
    /// The latest id and the latest revision given are at least these.
    case counters(lastID: UInt64, revision: UInt64)

    /// The revision that orders the entry in its commit batch; nil for an entry without one.
    package var revision: UInt64? {
        switch self {
        case .counts(let counts), .ballot(let counts, _, _): counts.revision
        case .post(let post): post.counts.revision
        case .deletion(_, let revision): revision
        case .marks(let marks): marks.revision
        case .markThrough(let mark): mark.revision
        case .feed, .voter, .channel, .outcome, .counters, .userVoter, .account, .session,
            .sessionEnded, .sessionsEnded:
            nil
        }
    }
}
