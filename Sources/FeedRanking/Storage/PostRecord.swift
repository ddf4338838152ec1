/// What votes and orders need of a post: one cache line.
package struct PostRecord: BitwiseCopyable {
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64 = 0
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64 = 0
    /// The number of the last write of any kind, votes among them.
    package var revision: UInt64
    /// Unix time; decides NEW and OLD, and its seconds HOT.
    package var createTimeMilliseconds: Int64
    /// The first eight bytes of the title, as `ContentBlob.titlePrefix` has them.
    package var titlePrefix: UInt64
    /// The score under which the post is in the indexes; has a meaning while `isIndexed`.
    package var settledScore: Int64 = 0
    /// The texts, and the numbers that no order needs.
    package var content: ContentBlob
    /// Never changes: no post moves to another feed.
    package var feed: FeedID
    /// Where the post stands; `isLive` tells a post from a free slot.
    package var flags: Flags

    /// Where a post stands between its votes and the indexes.
    package struct Flags: OptionSet, BitwiseCopyable {
        package let rawValue: UInt32

        /// A new post without votes, in no index yet.
        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The slot holds a post.
        package static let isLive = Flags(rawValue: 1)
        /// The post is in every index built for it, at its settled score.
        package static let isIndexed = Flags(rawValue: 2)
        /// The near list has it.
        package static let isNear = Flags(rawValue: 4)
        /// The far list has it.
        package static let isFar = Flags(rawValue: 8)
        /// Votes set ballots instead of counting each.
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

    /// Upvotes less downvotes; wraps rather than traps.
    package var score: Int64 {
        @inline(__always) get { Int64(bitPattern: upvoteCount &- downvoteCount) }
    }
}
