internal import FeedRanking

/// The service's state of a connection between two loop iterations.
struct Session {
    /// The requests that may be executed.
    var life = SessionLife()
    /// The caller.
    var caller: Caller
    /// The refresh budget of reads in the next loop iteration; larger where a read has waited.
    var refreshBudget = RefreshBudget()
    /// The progress of an import's check that waits for its next iteration; nil where none waits.
    var textWalk: TextWalk?
}
