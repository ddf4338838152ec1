/// What a store is at before a page is read, which tells later whether the page has changed.
package struct PageMoment: Sendable {
    /// The revision that a page read afterwards has.
    package let revision: UInt64
    /// How often the first pages of its feed may have changed (`ChangeCounts`).
    let shownVersion: UInt64
    /// The time of the clock that ends windows, in Unix milliseconds, and the number of its era; 0 for
    /// a list of all time.
    let time: Int64
    let era: UInt64
}

/// How long a page is the same.
///
/// A page that is shown (``PostPage/isShown``) changes with the shown version, and others with each
/// revision. A page of a window changes also when the first post leaves the list, or the clock goes back.
package struct PageLife: Sendable {
    private let start: PageMoment
    private let isShown: Bool
    private let endTime: Int64

    /// The life of a page that was read after a moment of its list.
    package init(of page: PostPage, readAt moment: PageMoment) {
        start = moment
        (isShown, endTime) = (page.isShown, page.endTime)
    }

    /// Whether the page is the same at a later moment; O(1).
    package func has(_ now: PageMoment) -> Bool {
        guard isShown ? start.shownVersion == now.shownVersion : start.revision == now.revision
        else { return false }
        return now.time < endTime && start.era == now.era
    }
}
