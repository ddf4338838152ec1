/// What the marks of a viewer make of a post.
package struct ViewerState: BitwiseCopyable, Equatable, Sendable {
    /// Whether the viewer has read the post.
    package var isRead = false
    /// Whether the viewer has dismissed the post.
    package var isDismissed = false

    /// The state of a post without marks, unless another is given.
    package init(isRead: Bool = false, isDismissed: Bool = false) {
        self.isRead = isRead
        self.isDismissed = isDismissed
    }

    /// Whether the post counts as unread: it is neither read nor dismissed.
    package var isUnread: Bool { !isRead && !isDismissed }
}
