/// The place that a reader which keeps a copy has come to.
package struct SyncPosition: Equatable, Sendable {
    /// The reader has every change up to this revision, but for deletions before its copy began.
    package var revision: UInt64
    /// The revision at which the reader's copy was begun, until the copy is complete; else 0.
    package var copyRevision: UInt64

    /// The place of a reader that has nothing.
    package static let start = SyncPosition(revision: 0, copyRevision: 0)

    package init(revision: UInt64, copyRevision: UInt64) {
        self.revision = revision
        self.copyRevision = copyRevision
    }

    /// The revision from which on the reader has to learn of deletions: it has had no post that was
    /// deleted before.
    var deletionsSince: UInt64 { max(revision, copyRevision) }

    /// Whether a new copy begins here.
    var isStart: Bool { revision == 0 }

    func moved(to revision: UInt64) -> SyncPosition {
        SyncPosition(revision: revision, copyRevision: revision >= copyRevision ? 0 : copyRevision)
    }
}

/// What a reader that keeps a copy asks for.
package struct SyncQuery {
    package var feed: FeedID?
    package var position: SyncPosition
    /// The most posts of a page; above 0.
    package var size: Int
    /// The bytes of texts at which a page ends, but for its first post.
    package var byteLimit: Int
    /// Whose ballots and marks the posts show.
    package var viewer: VoterKey?
    /// The place in the viewer's marks that the reader has come to; nil where it asks for none.
    package var marks: SyncPosition?

    package init(
        feed: FeedID? = nil,
        position: SyncPosition = .start,
        size: Int,
        byteLimit: Int = .max,
        viewer: VoterKey? = nil,
        marks: SyncPosition? = nil
    ) {
        self.feed = feed
        self.position = position
        self.size = size
        self.byteLimit = byteLimit
        self.viewer = viewer
        self.marks = marks
    }
}

/// A page of changes beside its rows.
package struct SyncPage: Equatable, Sendable {
    package var position: SyncPosition
    /// Whether changes are left that were there when the page was read.
    package var hasMore: Bool
    /// Whether the page is the first of a new copy.
    package var isReset: Bool
    /// What has changed in the viewer's marks; nil where it was not asked for.
    package var marks: MarkPage?
}

package enum SyncOutcome {
    case done(SyncPage)
    /// The allowance is used up: renew it and call again in a later loop iteration.
    case again
}
