/// A side list of a stripe: a further order of a group's posts, or one of a window.
final class SideList {
    /// The window; nil is all time.
    let window: Window?
    /// The keys of the list and the posts that are stale in it.
    var keys: SideIndex
    /// The time of the last read, in Unix milliseconds.
    var readTime: Int64

    /// A list without posts.
    init(_ list: ListID) {
        window = list.span?.window
        keys = SideIndex(list.kind)
        readTime = list.readTime
    }

    /// Whether it is the list that is asked for.
    func isList(_ list: ListID) -> Bool {
        keys.kind == list.kind && window == list.span?.window
    }
}
