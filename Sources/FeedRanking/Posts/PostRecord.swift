/// The part of a post that votes and orders need: one cache line.
package struct PostRecord: BitwiseCopyable {
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64 = 0
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64 = 0
    /// The number of the last write of any kind, votes included.
    package var revision: UInt64
    /// The Unix time; it decides NEW and OLD, and its seconds decide HOT.
    package var createTimeMilliseconds: Int64
    /// The first eight bytes of the title, as `ContentBlob.titlePrefix` has them.
    package var titlePrefix: UInt64
    /// What RISING sorts by.
    package var risingSum = RisingSum.initial
    /// The texts, and the numbers that no order needs.
    package var content: ContentBlob
    /// How much the score has changed since the indexes got it; valid while `isIndexed`.
    package var scoreChange: Int32 = 0
    /// The number of the post's feed; a store has at most `RankingLimits.maximumFeedCount`.
    private let feedNumber: UInt16
    /// The post's state; `isLive` distinguishes a post from a free slot.
    package var flags: Flags

    /// The state of a post between its votes and the indexes.
    package struct Flags: OptionSet, BitwiseCopyable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The slot has a post.
        package static let isLive = Flags(rawValue: 1)
        /// Every index built for the post has it, at its indexed score.
        package static let isIndexed = Flags(rawValue: 2)
        /// The head of `StaleSlots` has the post.
        package static let isInStaleHead = Flags(rawValue: 4)
        /// The tail of `StaleSlots` has the post.
        package static let isInStaleTail = Flags(rawValue: 8)
        /// Votes set ballots; they are not counted one by one.
        package static let keepsBallots = Flags(rawValue: 16)
        /// `SideLists` knows that the post was voted on since a side list was read.
        package static let isTouched = Flags(rawValue: 32)
        /// Only users have ballots; a post with this flag has `keepsBallots` too.
        package static let onlyUsersVote = Flags(rawValue: 64)
        /// A vote on the post may move it out of the head of a side list, or within it.
        package static let isInSideHead = Flags(rawValue: 128)
        /// `SyncOrder` knows that the post has changed since the changes were read.
        package static let isChanged = Flags(rawValue: 256)
    }

    package init(
        content: ContentBlob,
        feed: FeedID,
        voteMode: VoteMode,
        createTimeMilliseconds: Int64,
        revision: UInt64
    ) {
        self.content = content
        feedNumber = UInt16(truncatingIfNeeded: feed.rawValue)
        self.createTimeMilliseconds = createTimeMilliseconds
        self.revision = revision
        titlePrefix = content.titlePrefix
        flags =
            switch voteMode {
            case .tally: .isLive
            case .ballot: [.isLive, .keepsBallots]
            case .userBallot: [.isLive, .keepsBallots, .onlyUsersVote]
            }
    }

    /// Upvotes minus downvotes; wraps instead of trapping.
    package var score: Int64 {
        @inline(__always) get { Int64(bitPattern: upvoteCount &- downvoteCount) }
    }

    /// The post's feed, which never changes: no post moves to another feed.
    package var feed: FeedID { @inline(__always) get { FeedID(rawValue: UInt32(feedNumber)) } }

    /// The score under which the indexes have the post; valid while `isIndexed`.
    package var indexedScore: Int64 { @inline(__always) get { score &- Int64(scoreChange) } }

    /// Whether a few more votes could pass the range of `scoreChange`.
    var scoreChangeIsLarge: Bool { @inline(__always) get { scoreChange.magnitude >= 1 << 30 } }

    /// Adds an upvote of a moment; O(1).
    @inline(__always)
    mutating func addUpvote(_ weight: VoteWeight) {
        fixRisingSum()
        risingSum = risingSum.adding(weight, createTimeMilliseconds: createTimeMilliseconds)
        upvoteCount &+= 1
        scoreChange &+= 1
    }

    @inline(__always)
    mutating func addDownvote() {
        downvoteCount &+= 1
        scoreChange &-= 1
    }

    /// Takes an upvote back, which stays in the sum of RISING; O(1).
    mutating func removeUpvote() {
        fixRisingSum()
        upvoteCount &-= 1
        scoreChange &-= 1
    }

    /// Takes a downvote back; O(1).
    mutating func removeDownvote() {
        downvoteCount &-= 1
        scoreChange &+= 1
    }

    /// Computes the sum of RISING before the upvotes change from which it follows; O(1).
    @inline(__always)
    private mutating func fixRisingSum() {
        if risingSum.isInitial { risingSum = initialRisingSum }
    }

    /// The sum of RISING as of the creation.
    private var initialRisingSum: RisingSum {
        RisingSum(upvoteCount: upvoteCount, createTimeMilliseconds: createTimeMilliseconds)
    }

    /// The first part of the post's key in RISING; O(1).
    package var risingKey: UInt64 {
        let sum = risingSum.isInitial ? initialRisingSum : risingSum
        return sum.key(createTimeMilliseconds: createTimeMilliseconds)
    }
}
