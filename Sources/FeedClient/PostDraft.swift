public import FeedProto

/// What its author writes of a post: the fields that `createPost` takes, and that an edit may change.
///
/// ```swift
/// let post = try await client.createPost(PostDraft(title: "Apple"))
/// let edited = try await client.editPost(post) { $0.title = "Pear" }
/// ```
public struct PostDraft: Sendable, Hashable {
    /// The title: none to the feed's `maximumTitleLength` characters.
    public var title: String
    /// The text.
    public var text: String
    /// The address that the post links to, with http, https or no scheme; empty is none.
    public var linkURL: String
    /// The address of a small picture; empty is none.
    public var thumbnailURL: String
    /// The address of a full picture; empty is none.
    public var imageURL: String
    /// The number of its comments elsewhere.
    public var commentCount: UInt64

    /// A draft; each field has a default.
    public init(
        title: String = "",
        text: String = "",
        linkURL: String = "",
        thumbnailURL: String = "",
        imageURL: String = "",
        commentCount: UInt64 = 0
    ) {
        self.title = title
        self.text = text
        self.linkURL = linkURL
        self.thumbnailURL = thumbnailURL
        self.imageURL = imageURL
        self.commentCount = commentCount
    }

    /// What of a post may be edited.
    public init(_ post: Post) {
        self.init(
            title: post.title,
            text: post.text,
            linkURL: post.linkURL,
            thumbnailURL: post.thumbnailURL,
            imageURL: post.imageURL,
            commentCount: post.commentCount
        )
    }

    /// A post with these fields, and an author if a name is given.
    package func post(by authorName: String = "") -> Post {
        Post(
            author: authorName.isEmpty ? nil : User(displayName: authorName),
            title: title,
            text: text,
            linkURL: linkURL,
            thumbnailURL: thumbnailURL,
            imageURL: imageURL,
            commentCount: commentCount
        )
    }

    fileprivate func fields(changedSince old: PostDraft) -> [PostField] {
        let changes: [(PostField, isMade: Bool)] = [
            (.title, title != old.title),
            (.text, text != old.text),
            (.linkURL, linkURL != old.linkURL),
            (.thumbnailURL, thumbnailURL != old.thumbnailURL),
            (.imageURL, imageURL != old.imageURL),
            (.commentCount, commentCount != old.commentCount),
        ]
        return changes.filter(\.isMade).map(\.0)
    }
}

extension UpdatePostRequest {
    /// The edit of a post, which stands on its revision; nil if it changes nothing.
    package init?(editing post: Post, _ edit: (inout PostDraft) -> Void) {
        let old = PostDraft(post)
        var draft = old
        edit(&draft)
        let fields = draft.fields(changedSince: old)
        guard !fields.isEmpty else { return nil }
        var edited = draft.post()
        edited.id = post.id
        edited.revision = post.revision
        self.init(post: edited, updateMask: fields)
    }
}

extension FeedCalling {
    /// Creates a post.
    ///
    /// - Parameters:
    ///   - draft: What the post says.
    ///   - feed: The feed; empty is the feed `posts`.
    ///   - authorName: The name of an author without an account; empty is none. The posts of a user have
    ///     the user's name.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The post as the service keeps it, with its id.
    /// - Throws: A ``FeedClientError`` that names the fields at fault.
    @discardableResult
    public func createPost(
        _ draft: PostDraft,
        in feed: String = "",
        authorName: String = "",
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Post {
        let request = CreatePostRequest(feed: feed, post: draft.post(by: authorName))
        return try await postCall(.createPost(request), timeout: timeout)
    }

    /// Edits a post as it was shown: the fields that the closure changes.
    ///
    /// The edit stands on `Post.revision`: it is refused if somebody has edited the post since. Votes are
    /// no edits. An edit that changes nothing makes no call. The closure runs where its caller does.
    ///
    /// - Parameters:
    ///   - post: The post as it was read.
    ///   - timeout: How long it may take; nil is the client's timeout.
    ///   - edit: Changes what is to be changed.
    /// - Returns: The post as it is now.
    /// - Throws: A ``FeedClientError``, as `REVISION_MISMATCH` if another caller was faster.
    @discardableResult
    nonisolated(nonsending) public func editPost(
        _ post: Post,
        timeout: Duration? = nil,
        _ edit: (inout PostDraft) -> Void
    ) async throws(FeedClientError) -> Post {
        guard let request = UpdatePostRequest(editing: post, edit) else { return post }
        return try await postCall(.updatePost(request), timeout: timeout)
    }
}
