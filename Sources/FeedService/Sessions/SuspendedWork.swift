internal import FeedRanking

/// The progress of a request that needs more work than one loop iteration allows.
struct SuspendedWork {
    /// The refresh allowance of reads in the next loop iteration; larger where a read has waited.
    var refreshAllowance = RefreshAllowance()
    /// The progress of an import's check that waits for its next iteration; nil where none waits.
    var textWalk: TextWalk?
}
