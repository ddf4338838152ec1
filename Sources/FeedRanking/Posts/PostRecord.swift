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
    /// The score under which the indexes have the post; valid while `isIndexed`.
    package var indexedScore: Int64 = 0
    /// The texts, and the numbers that no order needs.
    package var content: ContentBlob
    /// The post's feed, which never changes: no post moves to another feed.
    package var feed: FeedID
    /// The post's state; `isLive` distinguishes a post from a free slot.
    package var flags: Flags

    /// The state of a post between its votes and the indexes.
    package struct Flags: OptionSet, BitwiseCopyable {
        package let rawValue: UInt32

        /// A new post without votes, in no index yet.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The slot has a post.
        package static let isLive = Flags(rawValue: 1)
        /// Every index built for the post has it, at its indexed score.
        package static let isIndexed = Flags(rawValue: 2)
        /// The head of `StaleSlots` has the post.
        package static let isInStaleHead = Flags(rawValue: 4)
        /// The tail of `StaleSlots` has the post.
        package static let isInStaleTail = Flags(rawValue: 8)
        /// `SideLists` knows that the post was voted on since a side list was read.
        package static let isTouched = Flags(rawValue: 32)
        /// Votes set ballots; they are not counted one by one.
        package static let keepsBallots = Flags(rawValue: 16)
    }

    package init(
        content: ContentBlob,
        feed: FeedID,
        voteMode: VoteMode,
        createTimeMilliseconds: Int64,
        revision: UInt64
    ) {
        self.content = content
        self.feed = feed
        self.createTimeMilliseconds = createTimeMilliseconds
        self.revision = revision
        titlePrefix = content.titlePrefix
        flags = voteMode == .ballot ? [.isLive, .keepsBallots] : .isLive
    }

    /// Upvotes minus downvotes; wraps instead of trapping.
    package var score: Int64 {
        @inline(__always) get { Int64(bitPattern: upvoteCount &- downvoteCount) }
    }
}
