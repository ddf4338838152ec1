/// Changes fields of a post.
public struct UpdatePostRequest: Equatable, Sendable {
    /// The id and the new values.
    ///
    /// With a revision other than 0 the call fails if the post was edited since.
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
    /// With a value other than 0 the call fails if the post was edited since that revision.
    public var revision: UInt64

    /// A deletion, by default of any revision of the post.
    public init(id: UInt64, revision: UInt64 = 0) {
        self.id = id
        self.revision = revision
    }
}
