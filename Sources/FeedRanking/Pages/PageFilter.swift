/// Which posts of a list a page shows.
package struct PageFilter: Sendable {
    /// Only posts of this user; 0 is all authors.
    package var authorID: UInt64 = 0
    /// Only posts that the viewer has neither read nor dismissed.
    package var isUnreadOnly = false
    /// Whether the page shows posts that the viewer has dismissed.
    package var includesDismissed = false
    /// The marks of the viewer; nil where there are none.
    package var marks: ViewerMarks?

    /// A filter that every post passes.
    package init() {}

    /// Whether a post may fail to pass.
    package var isNeeded: Bool {
        authorID != 0 || (marks != nil && isUnreadOnly)
            || (!includesDismissed && marks?.mayDismiss == true)
    }

    /// Whether a post passes.
    func passes(_ record: PostRecord, _ id: PostID) -> Bool {
        guard authorID == 0 || authorID == record.content.authorID else { return false }
        guard let marks else { return true }
        let state = marks.state(of: PostOrigin(id, record))
        if isUnreadOnly, state.isRead { return false }
        return includesDismissed || !state.isDismissed
    }
}
