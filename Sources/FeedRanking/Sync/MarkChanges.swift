/// A change of a viewer's marks, for readers that keep a copy.
package enum MarkChange: Equatable, Sendable {
    /// The marks on a post have changed: what all of the viewer's marks make of it now.
    case post(PostID, ViewerState)
    /// A mark on all posts up to one, which newer changes may contradict.
    case through(MarkThrough)
}

/// A page of changes of a viewer's marks, in the order of their revisions.
package struct MarkPage: Equatable, Sendable {
    package var position: SyncPosition
    package var changes: [MarkChange] = []
    /// Whether changes are left that were there when the page was read.
    package var hasMore = false
    /// Whether the reader forgets all marks first: the page begins a list of all that stand.
    package var isReset = false

    /// The page of a reader that has every mark up to a position.
    package init(position: SyncPosition) {
        self.position = position
    }
}

extension ViewerMarks {
    /// What has changed in a range of revisions.
    fileprivate enum Changed {
        case post(PostID)
        case through(MarkThrough)
    }

    /// Reads the changes behind a position, up to a revision.
    ///
    /// Marks that were taken back before `floor`, and those that too many others followed, are not known:
    /// a reader that has not come so far gets all marks that stand. `origin` gives the posts that live.
    /// O(marks) where there is a change, else O(1).
    func page(
        behind start: SyncPosition,
        to end: UInt64,
        of feed: FeedID?,
        limit: Int,
        floor: UInt64,
        origin: (PostID) -> PostOrigin?
    ) -> MarkPage {
        var start = start
        let known = max(floor, liftedKnownSince)
        let isReset =
            start.isStart || start.deletionsSince > end || start.deletionsSince < known
        if isReset { start = SyncPosition(revision: 0, copyRevision: end) }
        let changed =
            newestRevision > start.revision ? changes(behind: start, to: end) : []
        let part = changed.prefix(limit)
        let last = part.count < changed.count ? part.last?.revision ?? end : end
        var page = MarkPage(position: start.moved(to: last))
        page.hasMore = last < end
        page.isReset = isReset
        page.changes = part.compactMap { _, change in
            switch change {
            case .through(let step):
                return feed == nil || step.feed == nil || step.feed == feed ? .through(step) : nil
            case .post(let id):
                guard let post = origin(id), feed == nil || post.feed == feed else { return nil }
                return .post(id, state(of: post))
            }
        }
        return page
    }

    /// The marks of a range of revisions that stand, and those that were taken back, in their order.
    private func changes(
        behind position: SyncPosition,
        to end: UInt64
    ) -> [(revision: UInt64, Changed)] {
        let start = position.revision
        var changes: [(revision: UInt64, Changed)] = []
        for (id, onPost) in posts where onPost.revision > start && onPost.revision <= end {
            changes.append((onPost.revision, .post(id)))
        }
        for mark in lifted where mark.revision > position.deletionsSince && mark.revision <= end {
            // A post that was marked again has a later change.
            if posts[mark.post] == nil { changes.append((mark.revision, .post(mark.post))) }
        }
        for steps in steps.values {
            for step in steps.reading.standing + steps.dismissal.standing
            where step.revision > start && step.revision <= end {
                changes.append((step.revision, .through(step)))
            }
        }
        changes.sort { $0.revision < $1.revision }
        return changes
    }
}
