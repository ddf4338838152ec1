/// All accounts and sessions, as a start puts them back and as tests compare them.
package struct AccountsState: Equatable, Sendable {
    /// The accounts, in any order.
    package var accounts: [AccountRow] = []
    /// The generations of users who have ended all their sessions; 0 for the others.
    package var generations: [UInt64: UInt64] = [:]
    /// The sessions that were not ended one by one, in any order; some may be void.
    package var sessions: [SessionRow] = []

    /// No accounts.
    package init() {}
}
