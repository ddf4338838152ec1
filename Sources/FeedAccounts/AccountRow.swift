/// An account as it is kept and logged.
package struct AccountRow: Equatable, Sendable {
    /// The user's number, from 1 on; the top bit is never set.
    package var id: UInt64
    /// The e-mail as the user has typed it; accounts differ in it without regard to ASCII case.
    package var email: String
    package var displayName: String
    /// Argon2id, in libsodium's format with its parameters.
    package var passwordHash: String
    /// Unix time of the sign-up.
    package var createTimeMilliseconds: Int64
    /// How often the account was changed; of several rows of it the one with the most stands.
    package var version: UInt64
    package var status: Status

    package init(
        id: UInt64,
        email: String,
        displayName: String,
        passwordHash: String,
        createTimeMilliseconds: Int64,
        version: UInt64 = 0,
        status: Status = .active
    ) {
        self.version = version
        self.status = status
        self.id = id
        self.email = email
        self.displayName = displayName
        self.passwordHash = passwordHash
        self.createTimeMilliseconds = createTimeMilliseconds
    }

    var emailKey: [UInt8] { EmailAddress.key(of: email) }
}

extension AccountRow {
    /// What became of an account.
    ///
    /// A deleted one keeps its row, without its texts.
    package enum Status: UInt8, CaseIterable, BitwiseCopyable, Sendable {
        case active = 0
        /// The user may not sign in, and nobody may act for them.
        case suspended = 1
        /// Deleted; its posts are being deleted.
        case erasingPosts = 2
        /// Deleted; its posts are losing their author.
        case erasingAuthor = 3
        /// Deleted, and all posts with it.
        case erasedPosts = 4
        /// Deleted, and no post names it any more.
        case erasedAuthor = 5
    }

    /// What goes with a deleted account.
    package enum Erasure: Sendable {
        case posts
        /// The posts stay, without an author.
        case author
    }

    package var isActive: Bool { status == .active }

    package var isSuspended: Bool { status == .suspended }

    package var isDeleted: Bool { status.erasure != nil }

    package var hasNoTexts: Bool { email.isEmpty && displayName.isEmpty && passwordHash.isEmpty }

    /// Makes it a deleted one, with everything still to be erased.
    mutating func delete(erasing erasure: Erasure) {
        (email, displayName, passwordHash) = ("", "", "")
        status = erasure == .posts ? .erasingPosts : .erasingAuthor
    }
}

extension AccountRow.Status {
    /// What goes with a deleted account, or has gone; nil of another one.
    package var erasure: AccountRow.Erasure? {
        switch self {
        case .active, .suspended: nil
        case .erasingPosts, .erasedPosts: .posts
        case .erasingAuthor, .erasedAuthor: .author
        }
    }

    /// The status once all is erased; nil if nothing is to be.
    var erased: Self? {
        switch self {
        case .erasingPosts: .erasedPosts
        case .erasingAuthor: .erasedAuthor
        case .active, .suspended, .erasedPosts, .erasedAuthor: nil
        }
    }
}
