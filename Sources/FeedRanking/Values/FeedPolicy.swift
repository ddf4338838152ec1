/// A feed's number, in the order of their creation.
package struct FeedID: Hashable, BitwiseCopyable, Sendable {
    /// 0 is the store's first feed.
    package let rawValue: UInt32

    /// Any number is allowed; calls find no feed where the number was never given.
    package init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// The rules of a feed, which never change once it exists.
package struct FeedPolicy: Sendable, Equatable {
    /// The name of the feed; no other feed of the store has it.
    package var name: String
    /// The order of a page that names none.
    package var defaultOrder: Order
    /// Whether each vote counts or sets a ballot, and whose; copied into every post's flags.
    package var voteMode: VoteMode
    /// The bounds of what the caller lets into the feed; the store does not check them.
    package var maximumTitleCharacterCount: Int
    package var minimumTextCharacterCount: Int
    package var maximumTextCharacterCount: Int

    /// The rules of a feed of posts, except for the given ones.
    package init(
        name: String,
        defaultOrder: Order = .top,
        voteMode: VoteMode = .tally,
        maximumTitleCharacterCount: Int = 255,
        minimumTextCharacterCount: Int = 0,
        maximumTextCharacterCount: Int = 10_000
    ) {
        self.name = name
        self.defaultOrder = defaultOrder
        self.voteMode = voteMode
        self.maximumTitleCharacterCount = maximumTitleCharacterCount
        self.minimumTextCharacterCount = minimumTextCharacterCount
        self.maximumTextCharacterCount = maximumTextCharacterCount
    }

    /// The feed of posts that every store has: each vote counts.
    package static let posts = FeedPolicy(name: "posts")

    /// The feed of tweets that every store has: 1 to 140 characters, latest first.
    package static let tweets = FeedPolicy(
        name: "tweets",
        defaultOrder: .new,
        minimumTextCharacterCount: 1,
        maximumTextCharacterCount: 140
    )
}

/// A feed as a list of feeds shows it.
package struct FeedSummary: Sendable, Equatable {
    package var id: FeedID
    package var policy: FeedPolicy
    /// The posts that live, over all stripes; each stripe is counted at a moment of its own.
    package var postCount: UInt64
}
