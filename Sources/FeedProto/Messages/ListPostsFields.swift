/// For services: a page of `PostFields`, with the fields of `ListPostsResponse` beside its posts.
public struct ListPostsFields: Equatable, Sendable {
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var nextPageToken = TextRange.empty
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var previousPageToken = TextRange.empty
    /// As in `ListPostsResponse`; lies in the same buffer as the texts.
    public var refreshToken = TextRange.empty
    /// As in `ListPostsResponse`.
    public var firstRank: UInt64
    /// As in `ListPostsResponse`.
    public var totalSize: UInt64
    /// As in `ListPostsResponse`.
    public var newerCount: UInt32 = 0
    /// As in `ListPostsResponse`.
    public var consistency = Consistency.unspecified

    /// A page without neighbours.
    public init(firstRank: UInt64, totalSize: UInt64) {
        self.firstRank = firstRank
        self.totalSize = totalSize
    }
}
