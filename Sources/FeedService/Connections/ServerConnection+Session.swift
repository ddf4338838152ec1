internal import FeedRanking

extension ServerConnection {
    /// The state of a connection between two loop iterations.
    struct Session {
        /// Which requests may be executed.
        var state = StateMachine()
        /// The caller.
        var caller: Caller
        /// The refresh budget of reads in the next loop iteration; larger where a read has waited.
        var refreshBudget = RefreshBudget()
        /// How far the import was checked that waits for its next iteration; nil where none waits.
        var textWalk: TextWalk?
    }
}
