import FeedRanking

/// A sink that keeps each change, to put it back into another store.
final class RecordedChanges: ChangeSink {
    /// The revisions of the changes that have one, in the order of the changes.
    var revisions: [UInt64] = []
    private var restorations: [(FeedStore) throws(RecoveryError) -> Void] = []

    let isNone = false

    /// Puts all changes back in their order.
    func restore(to store: FeedStore) throws { for restore in restorations { try restore(store) } }

    func append(_ counts: PostCounts) {
        keep(counts.revision) { (store) throws(RecoveryError) in try store.restore(counts) }
    }

    func append(_ counts: PostCounts, _ voter: VoterID, _ direction: VoteDirection?) {
        keep(counts.revision) { (store) throws(RecoveryError) in
            try store.restore(counts, voter, direction)
        }
    }

    func append(_ post: PostState) {
        keep(post.counts.revision) { (store) throws(RecoveryError) in try store.restore(post) }
    }

    func append(deletionOf id: PostID, revision: UInt64) {
        keep(revision) { (store) throws(RecoveryError) in
            try store.restore(deletionOf: id, revision: revision)
        }
    }

    func append(_ feed: FeedID, _ policy: FeedPolicy) {
        keep(nil) { (store) throws(RecoveryError) in try store.restore(feed, policy) }
    }

    func append(_ voter: VoterID, _ device: Device16) {
        keep(nil) { (store) throws(RecoveryError) in try store.restore(voter, device) }
    }

    func append(_ voter: VoterID, user: UInt64) {
        keep(nil) { (store) throws(RecoveryError) in try store.restore(voter, user: user) }
    }

    func append(_ marks: PostMarks) {
        keep(marks.revision) { (store) throws(RecoveryError) in try store.restore(marks) }
    }

    func append(_ mark: MarkThrough) {
        keep(mark.revision) { (store) throws(RecoveryError) in try store.restore(mark) }
    }

    private func keep(
        _ revision: UInt64?,
        _ restore: @escaping (FeedStore) throws(RecoveryError) -> Void
    ) {
        if let revision { revisions.append(revision) }
        restorations.append(restore)
    }
}
