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

extension PostPage {
    /// Whether the page, read after one moment of its list, is the same at a later one; O(1).
    ///
    /// A page that ``isShown`` changes with the shown version, and others with each revision. A page of a
    /// window changes also when the first post leaves the list, or the clock goes back.
    package func isSame(readAt read: PageMoment, at now: PageMoment) -> Bool {
        guard isShown ? read.shownVersion == now.shownVersion : read.revision == now.revision
        else { return false }
        return now.time < endTime && read.era == now.era
    }
}
