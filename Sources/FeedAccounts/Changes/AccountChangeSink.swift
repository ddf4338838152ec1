/// Takes the changes of accounts and sessions, each in the critical section that makes it.
///
/// The tables call a sink under the lock that guards the change, so a sink returns at once and takes
/// no other lock. Its caller has begun a transaction of the log that the sink writes.
///
/// The log entries have no revision, so those of different event loops may be replayed in any
/// order within a commit batch. The values are such that the order does not matter:
///
/// - an account is written once and never changes;
/// - of several rows of a session, the one that expires last stands;
/// - the end of a session stands, also where a row of the session comes after it: no two sessions have
///   the same hash;
/// - of several generations of a user, the highest stands.
package protocol AccountChangeSink {
    /// An account was created.
    func append(_ account: AccountRow)

    /// A session was begun, or expires later now.
    func append(_ session: SessionRow)

    /// A session has ended and is forgotten.
    func append(endOf session: TokenHash)

    /// All sessions of a user of an earlier generation have ended.
    func append(endOfSessionsOf userID: UInt64, generation: UInt64)
}

/// A sink that drops all changes.
package struct NoAccountChanges: AccountChangeSink {
    /// Makes a sink that drops all changes.
    package init() {}

    /// Drops the change.
    package func append(_ account: AccountRow) {}

    /// Drops the change.
    package func append(_ session: SessionRow) {}

    /// Drops the change.
    package func append(endOf session: TokenHash) {}

    /// Drops the change.
    package func append(endOfSessionsOf userID: UInt64, generation: UInt64) {}
}
