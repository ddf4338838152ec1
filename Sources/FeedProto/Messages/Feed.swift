/// A feed and its policy, which never changes once the feed exists.
public struct Feed: Equatable, Sendable {
    /// The name: a small letter, then up to 62 small letters, digits and hyphens.
    public var name: String
    /// The order of lists that name no order.
    public var defaultOrder: Order
    /// What a vote means.
    public var voteMode: VoteMode
    /// The most characters of a title; 0 is the service's limit.
    public var maximumTitleLength: UInt32
    /// The fewest characters of a text.
    public var minimumTextLength: UInt32
    /// The most characters of a text; 0 is the service's limit.
    public var maximumTextLength: UInt32
    /// The number of posts in it; ignored in a request.
    public var postCount: UInt64
    /// Whose ballots count.
    public var voters: Voters

    /// A feed, by default with the service's policy.
    public init(
        name: String,
        defaultOrder: Order = .unspecified,
        voteMode: VoteMode = .unspecified,
        maximumTitleLength: UInt32 = 0,
        minimumTextLength: UInt32 = 0,
        maximumTextLength: UInt32 = 0,
        postCount: UInt64 = 0,
        voters: Voters = .unspecified
    ) {
        self.name = name
        self.defaultOrder = defaultOrder
        self.voteMode = voteMode
        self.maximumTitleLength = maximumTitleLength
        self.minimumTextLength = minimumTextLength
        self.maximumTextLength = maximumTextLength
        self.postCount = postCount
        self.voters = voters
    }
}
