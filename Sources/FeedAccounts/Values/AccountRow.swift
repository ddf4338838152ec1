/// An account as it is kept and logged; it never changes.
package struct AccountRow: Equatable, Sendable {
    /// The user's number, from 1 on; the top bit is never set.
    package var id: UInt64
    /// The e-mail as the user wrote it.
    package var email: String
    /// The name that others see.
    package var displayName: String
    /// The hash of the password, in the text form of argon2id, which names its parameters and salt.
    package var passwordHash: String
    /// Unix time of the sign-up.
    package var createTimeMilliseconds: Int64

    /// An account with all of its values.
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
