internal import FeedRanking

extension ServerConnection {
    /// What the service remembers of a connection between two turns.
    struct Session {
        /// What may still be executed.
        var state = StateMachine()
        /// Who calls.
        var caller: Caller
        /// The settling that reads may do in the next turn; more where one has waited for it.
        var settlingBudget = SettlingBudget()
        /// How far the import that waits for its next turn was checked; nil where none does.
        var textWalk: TextWalk?
    }
}
