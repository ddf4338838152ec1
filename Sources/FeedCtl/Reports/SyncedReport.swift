package import FeedOffline

/// What a sync has done, as `sync` reports it.
package struct SyncedReport: Report, Equatable {
    let sentCount: Int
    let failedCount: Int
    let inDoubtCount: Int
    let waitingCount: Int
    /// Those among them that wait for another account than the one that has signed in.
    let otherUserCount: Int
    let changedPostCount: Int
    let removedPostCount: Int
    /// Whether the copy was begun anew, as the first one is.
    let isNewCopy: Bool

    /// The report of a sync.
    package init(_ report: SyncReport) {
        sentCount = report.sentCount
        failedCount = report.failedCount
        inDoubtCount = report.inDoubtCount
        waitingCount = report.leftCount
        otherUserCount = report.otherUserCount
        changedPostCount = report.changedPostCount
        removedPostCount = report.removedPostCount
        isNewCopy = report.isReset
    }

    /// Not where the service has refused a change, or cannot tell whether it has one.
    package var isDone: Bool { failedCount + inDoubtCount == 0 }

    /// A line for the outbox and one for the copy.
    package func text(_ style: TextStyle) -> String {
        var outbox = "Outbox: \(sentCount) sent, \(waitingCount) waiting"
        if otherUserCount > 0 { outbox += ", \(otherUserCount) of them for another account" }
        if failedCount > 0 { outbox += ", \(failedCount) refused" }
        if inDoubtCount > 0 { outbox += ", \(inDoubtCount) in doubt" }
        if failedCount + inDoubtCount + otherUserCount > 0 { outbox += " (feedctl outbox)" }
        let copy = isNewCopy ? "New copy" : "Copy"
        return outbox + ".\n"
            + "\(copy): \(changedPostCount) posts changed, \(removedPostCount) removed.\n"
    }
}
