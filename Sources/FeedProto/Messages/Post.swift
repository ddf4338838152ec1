/// A post as the service shows it.
///
/// Of a post in a request the service reads only what that call names.
public struct Post: Equatable, Sendable {
    /// Assigned by the service and never reused; ids are not times.
    public var id: UInt64
    /// The feed it is in.
    public var feed: String
    /// The author; nil where unknown.
    public var author: User?
    /// The title, verbatim.
    public var title: String
    /// The text, verbatim.
    public var text: String
    /// The address that the post links to; empty where there is none.
    public var linkURL: String
    /// A small picture; empty is none.
    public var thumbnailURL: String
    /// A full picture; empty is none.
    public var imageURL: String
    /// Upvotes minus downvotes.
    public var score: Int64
    /// The number of votes for it.
    public var upvoteCount: UInt64
    /// The number of votes against it.
    public var downvoteCount: UInt64
    /// The number of its comments elsewhere.
    public var commentCount: UInt64
    /// When it was created, since the Unix epoch.
    public var createTimeMilliseconds: Int64
    /// When it was last edited, since the Unix epoch.
    public var updateTimeMilliseconds: Int64
    /// The revision of its last change; an etag for update and delete.
    public var revision: UInt64
    /// The caller's relation to the post; nil for callers without identity.
    public var viewer: Viewer?

    /// A post, by default empty: name the fields that it has.
    public init(
        id: UInt64 = 0,
        feed: String = "",
        author: User? = nil,
        title: String = "",
        text: String = "",
        linkURL: String = "",
        thumbnailURL: String = "",
        imageURL: String = "",
        score: Int64 = 0,
        upvoteCount: UInt64 = 0,
        downvoteCount: UInt64 = 0,
        commentCount: UInt64 = 0,
        createTimeMilliseconds: Int64 = 0,
        updateTimeMilliseconds: Int64 = 0,
        revision: UInt64 = 0,
        viewer: Viewer? = nil
    ) {
        self.id = id
        self.feed = feed
        self.author = author
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.score = score
        self.upvoteCount = upvoteCount
        self.downvoteCount = downvoteCount
        self.commentCount = commentCount
        self.createTimeMilliseconds = createTimeMilliseconds
        self.updateTimeMilliseconds = updateTimeMilliseconds
        self.revision = revision
        self.viewer = viewer
    }
}
