/// Changes fields of a post.
public struct UpdatePostRequest: Equatable, Sendable {
    /// The id and the new values; a revision other than 0 is one since which nobody edited it.
    public var post: Post?
    /// The fields to take from `post`.
    public var updateMask: [PostField]

    /// Names the fields to change.
    public init(post: Post?, updateMask: [PostField]) {
        self.post = post
        self.updateMask = updateMask
    }
}

/// Deletes a post; deleting it again is OK.
public struct DeletePostRequest: Equatable, Sendable {
    /// The post.
    public var id: UInt64
    /// Other than 0 it is one since which nobody may have edited the post.
    public var revision: UInt64

    /// By default whatever the post's revision is.
    public init(id: UInt64, revision: UInt64 = 0) {
        self.id = id
        self.revision = revision
    }
}
