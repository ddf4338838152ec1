/// Which posts of a list a page shows.
package struct PageFilter: Equatable, Sendable {
    /// Only posts of this user; 0 is all authors.
    package var authorID: UInt64 = 0
    /// Only posts that the viewer has not read; those that it has dismissed are a matter apart.
    package var isUnreadOnly = false
    /// Whether the page shows posts that the viewer has dismissed.
    package var includesDismissed = false

    /// A filter that every post passes.
    package init() {}

    /// Whether a post may fail to pass, with the marks of the viewer.
    package func isNeeded(_ marks: ViewerMarks?) -> Bool {
        authorID != 0 || (marks != nil && isUnreadOnly)
            || (!includesDismissed && marks?.mayDismiss == true)
    }

    /// Whether a post passes, with the marks of the viewer.
    func passes(_ record: PostRecord, _ id: PostID, _ marks: ViewerMarks?) -> Bool {
        guard authorID == 0 || authorID == record.content.authorID else { return false }
        guard let marks else { return true }
        let state = marks.state(of: PostOrigin(id, record))
        if isUnreadOnly, state.isRead { return false }
        return includesDismissed || !state.isDismissed
    }
}
