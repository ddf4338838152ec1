/// An account as it is kept and logged; it never changes.
package struct AccountRow: Equatable, Sendable {
    /// The user's id, from 1; the top bit is not set.
    package var id: UInt64
    /// The address that the user signs in with, as it was given.
    package var email: String
    /// The name that others see.
    package var displayName: String
    /// The hash of the password in the form that the hash function writes, never the password.
    package var passwordHash: String
    /// The Unix time of the sign-up.
    package var createTimeMilliseconds: Int64

    /// An account.
    package init(
        id: UInt64,
        email: String,
        displayName: String,
        passwordHash: String,
        createTimeMilliseconds: Int64
    ) {
        self.id = id
        self.email = email
        self.displayName = displayName
        self.passwordHash = passwordHash
        self.createTimeMilliseconds = createTimeMilliseconds
    }
}
