/// Where a client keeps the session of its user from one launch of the program to the next.
///
/// The client loads the token before it connects, saves it after a sign-in, and removes it after a
/// sign-out and where the service does not know the session any more.
public protocol SessionStore: Sendable {
    /// The token that is kept; nil where there is none.
    func load() -> Secret?

    /// Keeps a token in place of the one before.
    func save(_ token: Secret)

    /// Forgets the token.
    func remove()
}
