/// A post as the service shows it; of a request it reads only what that call names.
public struct Post: Equatable, Sendable {
    /// Given by the service and never used again; ids are not times.
    public var id: UInt64
    /// The feed it is in.
    public var feed: String
    /// Who wrote it; nil where nobody is known.
    public var author: User?
    /// The title, verbatim.
    public var title: String
    /// The text, verbatim.
    public var text: String
    /// Where it leads; empty is nowhere.
    public var linkURL: String
    /// A small picture; empty is none.
    public var thumbnailURL: String
    /// A full picture; empty is none.
    public var imageURL: String
    /// Upvotes less downvotes.
    public var score: Int64
    /// How many voted for it.
    public var upvoteCount: UInt64
    /// How many voted against it.
    public var downvoteCount: UInt64
    /// How many comments it has elsewhere.
    public var commentCount: UInt64
    /// When it was created, since the Unix epoch.
    public var createTimeMilliseconds: Int64
    /// When it was last edited, since the Unix epoch.
    public var updateTimeMilliseconds: Int64
    /// The revision of its last change; an etag for update and delete.
    public var revision: UInt64
    /// What the caller has to do with it; nil for callers without identity.
    public var viewer: Viewer?

    /// An empty post; name what it has.
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
