/// Where a client keeps the session of its user from one launch of the program to the next.
///
/// The client loads the session before it connects, saves it after a sign-in, and removes it after a
/// sign-out and where the service does not know the session any more.
public protocol SessionStore: Sendable {
    /// The session that is kept; nil where there is none.
    func load() -> StoredSession?

    /// Keeps a session in place of the one before.
    func save(_ session: StoredSession)

    /// Forgets the session.
    func remove()
}

/// A session as a store keeps it: the token to show, and whose it is.
public struct StoredSession: Sendable, Hashable {
    /// The token that a later Hello shows.
    public let token: Secret
    /// The account, which a program without a network has to know too.
    public let userID: UInt64

    /// A session that was received or stored.
    public init(token: Secret, userID: UInt64) {
        self.token = token
        self.userID = userID
    }
}
