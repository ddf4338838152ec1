public import FeedProto

/// A page of a feed, with the tokens of its neighbours.
public struct Page: Sendable, Equatable {
    /// The posts, in order; there may be few, and only a missing token marks the end.
    public var posts: [Post]
    /// Where the page after this one starts; nil at the end of the list.
    public var next: PageToken?
    /// Where the page before this one starts; nil at the start of the list.
    public var previous: PageToken?
    /// The token of the posts that are created after this page, in any order; nil on a page that was read
    /// by ``next`` or ``previous``.
    public var refresh: PageToken?
    /// The rank of the first post; 1 is the best.
    public var firstRank: UInt64
    /// How many posts the list has.
    public var totalSize: UInt64
    /// In an answer of newer posts, how many more there are, those that the list's filters leave out among
    /// them: read them by ``refresh``.
    public var newerCount: UInt32
    /// What was served: LIVE also where STABLE was asked for, and its snapshot is gone or ends.
    public var consistency: Consistency

    /// A page, by default the only one.
    public init(
        posts: [Post],
        next: PageToken? = nil,
        previous: PageToken? = nil,
        firstRank: UInt64 = 1,
        totalSize: UInt64 = 0,
        refresh: PageToken? = nil,
        newerCount: UInt32 = 0,
        consistency: Consistency = .unspecified
    ) {
        self.posts = posts
        self.next = next
        self.previous = previous
        self.firstRank = firstRank
        self.totalSize = totalSize
        self.refresh = refresh
        self.newerCount = newerCount
        self.consistency = consistency
    }

    /// What the service answered.
    init(_ response: ListPostsResponse) {
        posts = response.posts
        next = PageToken(bytes: response.nextPageToken)
        previous = PageToken(bytes: response.previousPageToken)
        firstRank = response.firstRank
        totalSize = response.totalSize
        refresh = PageToken(bytes: response.refreshToken)
        newerCount = response.newerCount
        consistency = response.consistency
    }
}

/// A place in a list.
///
/// It may be kept for any time: it stays valid when posts come and go.
///
/// It belongs to its feed, order and caller; elsewhere the service refuses it.
public struct PageToken: Sendable, Hashable {
    /// The bytes that the service issued; they mean something to the service only.
    public let bytes: [UInt8]

    /// A stored token; nil of no bytes.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }
}

/// Where a page starts.
public enum PageStart: Sendable, Hashable {
    /// At the first post.
    case first
    /// At the token of another page.
    case token(PageToken)
    /// With the page that holds a post.
    case around(UInt64)
    /// At a rank; 1 is the first post.
    case rank(UInt64)
    /// With the posts created since a post, in the order NEW, or OLD in a list of OLD.
    case newerThan(UInt64)
}
