/// Takes the changes of the store, each in the critical section that makes it.
///
/// The store calls a sink under the lock that guards the change: of the post's stripe, of the feeds,
/// of the voters or of a viewer's marks. So a sink sees the changes of a post, and the feed and the
/// voter that a change needs, in the order in which they were made. A sink returns at once, takes
/// no other lock, and calls no store.
///
/// The store borrows a sink and never copies it. The store calls it through the witness table of
/// its type: one indirect call a change, without allocation and without reference counting.
package protocol ChangeSink {
    /// Whether the sink drops all changes; the store then builds no `PostState`.
    var isNone: Bool { get }

    /// The votes of a post have changed; O(1).
    func append(_ counts: PostCounts)

    /// A voter's ballot was set, or withdrawn where nil, and the votes have changed with it; O(1).
    func append(_ counts: PostCounts, _ voter: VoterID, _ direction: VoteDirection?)

    /// A post was created, imported, edited or corrected; O(its texts).
    func append(_ post: PostState)

    /// A post was deleted for good; O(1).
    func append(deletionOf id: PostID, revision: UInt64)

    /// A feed was created; O(its name).
    func append(_ feed: FeedID, _ policy: FeedPolicy)

    /// A device has become a voter; O(1).
    func append(_ voter: VoterID, _ device: Device16)

    /// A user has become a voter; O(1).
    func append(_ voter: VoterID, user: UInt64)

    /// A viewer's marks on a post have changed; O(1).
    func append(_ marks: PostMarks)

    /// A viewer has marked all posts up to one; O(1).
    func append(_ mark: MarkThrough)
}

/// A sink that drops all changes.
package struct NoChanges: ChangeSink {
    /// Makes a sink that drops all changes.
    package init() {}

    /// Always true.
    package var isNone: Bool { true }

    /// Drops the change.
    package func append(_ counts: PostCounts) {}

    /// Drops the change.
    package func append(_ counts: PostCounts, _ voter: VoterID, _ direction: VoteDirection?) {}

    /// Drops the change.
    package func append(_ post: PostState) {}

    /// Drops the change.
    package func append(deletionOf id: PostID, revision: UInt64) {}

    /// Drops the change.
    package func append(_ feed: FeedID, _ policy: FeedPolicy) {}

    /// Drops the change.
    package func append(_ voter: VoterID, _ device: Device16) {}

    /// Drops the change.
    package func append(_ voter: VoterID, user: UInt64) {}

    /// Drops the change.
    package func append(_ marks: PostMarks) {}

    /// Drops the change.
    package func append(_ mark: MarkThrough) {}
}
