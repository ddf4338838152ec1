/// The first posts of a list at a moment, in order, by their numbers; a caller reuses the value, so
/// that calls rarely allocate.
package struct FirstPosts: Sendable {
    /// The posts in the order of the list.
    package internal(set) var posts: [PostNumbers] = []
    /// A revision up to which every change of the list is in it.
    package internal(set) var revision: UInt64 = 0
    /// The posts that were created in the feed, or in all feeds, since the start of the process,
    /// deleted ones included; a window does not count.
    package internal(set) var createdCount: UInt64 = 0

    /// The working memory of the merge.
    var merge = PageMerge()

    /// No posts.
    package init() {}
}
