internal import FeedRanking

extension ServerConnection {
    /// What the service remembers of a connection between two turns.
    struct Session {
        /// What may still be executed.
        var state = StateMachine()
        /// Who calls.
        var caller: Caller
        /// The refresh budget of reads in the next turn; it is larger where a read has waited for
        /// it.
        var refreshBudget = RefreshBudget()
        /// How far the import that waits for its next turn was checked; nil where none does.
        var textWalk: TextWalk?
    }
}
