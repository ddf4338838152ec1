/// A side list of a stripe: a further order of a group's posts, or one of a window.
final class SideList {
    /// The posts of its window; nil is all time.
    let queue: SideQueue?
    /// The keys of the list and the posts that are stale in it.
    var keys: SideIndex
    /// The time of the last read, in Unix milliseconds.
    var readTime: Int64

    /// A list without posts.
    init(_ list: ListID, _ queue: SideQueue?) {
        self.queue = queue
        keys = SideIndex(list.kind)
        readTime = list.readTime
    }

    /// The window; nil is all time.
    var window: Window? { queue?.posts.span.window }

    /// The time after which its posts were created.
    var start: Int64 { queue?.posts.span.start ?? .min }

    /// Whether it is the list that is asked for.
    func isList(_ list: ListID) -> Bool { keys.kind == list.kind && window == list.span?.window }
}

/// A window's queue in a side group, as a reference, which the lists of the window share.
final class SideQueue {
    /// The posts in the window.
    var posts: WindowQueue

    /// A queue that has looked at no member.
    init(_ span: WindowSpan) { posts = WindowQueue(span) }
}
