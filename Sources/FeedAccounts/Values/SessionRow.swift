/// A user's session as it is kept and logged: the hash of its token, and never the token.
package struct SessionRow: BitwiseCopyable, Equatable, Sendable {
    /// The hash of the token, by which the session is found.
    package var tokenHash: TokenHash
    /// The user whose session it is.
    package var userID: UInt64
    /// Unix time from which on the session is void; it moves later while the session is used.
    package var expireTimeMilliseconds: Int64
    /// The generation of the user's sessions that it belongs to; void below the user's own.
    package var generation: UInt64

    /// A session with all of its values.
    package init(
        tokenHash: TokenHash,
        userID: UInt64,
        expireTimeMilliseconds: Int64,
        generation: UInt64
    ) {
        self.tokenHash = tokenHash
        self.userID = userID
        self.expireTimeMilliseconds = expireTimeMilliseconds
        self.generation = generation
    }
}
