/// The redo of one write in a log: the values that it left, which replay puts back without a clock
/// or random numbers.
///
/// An entry with a revision has the values of its key as of that revision. So an entry that is
/// applied twice, or after a newer one, changes nothing.
package enum LogEntry: Equatable, Sendable {
    /// A vote that a tally counted.
    case counts(PostCounts)
    /// A voter's ballot that stands now, nil where it was taken back, and the counts with it.
    case ballot(PostCounts, VoterID, VoteDirection?)
    /// A post as it was created, imported, edited or corrected.
    ///
    /// It is indirect, as a feed is, so that frequent entries are moved without room for texts.
    indirect case post(PostState)
    /// A post is gone for good.
    case deletion(PostID, revision: UInt64)
    /// A feed and its rules.
    indirect case feed(FeedID, FeedPolicy)
    /// A voter's device.
    case voter(VoterID, device: Device16)
    /// A channel was seen for the first time.
    case channel(ChannelState)
    /// What came of a numbered call.
    case outcome(ChannelOutcome)
    /// The latest id and the latest revision given are at least these.
    case epoch(lastID: UInt64, revision: UInt64)

    /// The revision that orders the entry in its commit batch; nil for an entry without one.
    package var revision: UInt64? {
        switch self {
        case .counts(let counts), .ballot(let counts, _, _): counts.revision
        case .post(let post): post.counts.revision
        case .deletion(_, let revision): revision
        case .feed, .voter, .channel, .outcome, .epoch: nil
        }
    }
}

/// The votes of a post as of a revision.
package struct PostCounts: BitwiseCopyable, Equatable, Sendable {
    /// The post.
    package var id: PostID
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64
    /// The number of the post's last write of any kind, votes among them.
    package var revision: UInt64

    /// The votes of a post as of a revision.
    package init(id: PostID, upvoteCount: UInt64, downvoteCount: UInt64, revision: UInt64) {
        self.id = id
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.revision = revision
    }
}

/// The 16 bytes a device is known by.
package struct Device16: Hashable, BitwiseCopyable, Sendable {
    /// The first eight bytes.
    package var high: UInt64
    /// The last eight bytes.
    package var low: UInt64

    /// A device of these bytes.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
