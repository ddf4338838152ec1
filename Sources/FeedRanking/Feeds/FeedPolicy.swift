/// A feed's number, in the order of their creation.
package struct FeedID: Hashable, BitwiseCopyable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// Whose ballots count.
package enum Voters: UInt8, Sendable {
    case devices
}

/// The rules of a feed, which never change once it exists.
package struct FeedPolicy: Sendable, Equatable {
    package var name: String
    package var defaultOrder: Order
    package var voteMode: VoteMode
    package var voters: Voters
    package var maximumTitleCharacterCount: Int
    package var minimumTextCharacterCount: Int
    package var maximumTextCharacterCount: Int

    package init(
        name: String,
        defaultOrder: Order = .top,
        voteMode: VoteMode = .tally,
        voters: Voters = .devices,
        maximumTitleCharacterCount: Int = 255,
        minimumTextCharacterCount: Int = 0,
        maximumTextCharacterCount: Int = 10_000
    ) {
        self.name = name
        self.defaultOrder = defaultOrder
        self.voteMode = voteMode
        self.voters = voters
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
    package var postCount: UInt64
}
