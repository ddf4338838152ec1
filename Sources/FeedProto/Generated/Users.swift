// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Changes a user, for a service; takes no sequence, and may be repeated.
///
/// USER_NOT_FOUND if there is no account, as after a deletion.
///
/// The answer: `Empty`.
public struct ChangeUserRequest: Equatable, Sendable {
    /// The account; 0 is the one that `email` names.
    public var userID: UserID
    /// The e-mail address of the account, if `userID` is 0.
    public var email: String
    /// What is done.
    public var change: UserChange

    /// All fields; those with a default may be left out.
    public init(userID: UserID = 0, email: String = "", change: UserChange) {
        self.userID = userID
        self.email = email
        self.change = change
    }
}

/// What a service does with a user.
public struct UserChange: WireEnum {
    /// The number on the wire.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The request did not say: BAD_FIELD.
    public static var unspecified: Self { Self(rawValue: 0) }
    /// All sessions of the user end, and a token that resets the password.
    public static var endSessions: Self { Self(rawValue: 1) }
    /// The user is suspended: the sessions end, and until RESTORE nobody signs in as the user or
    /// acts for it, USER_SUSPENDED.
    ///
    /// Posts, votes and marks stay.
    public static var suspend: Self { Self(rawValue: 2) }
    /// The user is not suspended any more.
    public static var restore: Self { Self(rawValue: 3) }
    /// The account is deleted with its posts, as DeleteAccount does.
    public static var delete: Self { Self(rawValue: 4) }
    /// The account is deleted, and its posts stay without an author.
    public static var deleteKeepingPosts: Self { Self(rawValue: 5) }

    /// The contract's names, by number.
    public static let names = [
        "USER_CHANGE_UNSPECIFIED", "END_SESSIONS", "SUSPEND", "RESTORE", "DELETE",
        "DELETE_KEEPING_POSTS",
    ]
}

/// Asks for a token with which a user who has forgotten the password gets another one, for a
/// service that sends it to the user; takes no sequence.
///
/// USER_NOT_FOUND if there is no account. An earlier token of the user ends.
///
/// The answer: `PasswordReset`.
public struct MakePasswordResetRequest: Equatable, Sendable {
    /// The account; 0 is the one that `email` names.
    public var userID: UserID
    /// The e-mail address of the account, if `userID` is 0.
    public var email: String

    /// All fields; each has a default.
    public init(userID: UserID = 0, email: String = "") {
        self.userID = userID
        self.email = email
    }
}

/// A token that resets the password of a user, once.
public struct PasswordReset: Equatable, Sendable {
    /// The token, of 32 bytes: a secret.
    public var token: [UInt8]
    /// The user.
    public var user: User?
    /// When the token ends, in milliseconds since the Unix epoch: an hour later.
    ///
    /// It also ends if all sessions of the user do.
    public var expireTimeMilliseconds: Int64

    /// All fields; each must be given.
    public init(token: [UInt8], user: User?, expireTimeMilliseconds: Int64) {
        self.token = token
        self.user = user
        self.expireTimeMilliseconds = expireTimeMilliseconds
    }
}

/// Changes the password of the user of a token, and signs in; takes no sequence.
///
/// BAD_CREDENTIALS if the token was used, has ended or never was. All sessions of the user end, and
/// a new one begins: the connection's. The answer may come after the answers to later calls of the
/// connection.
///
/// The answer: `UserSession`.
public struct ResetPasswordRequest: Equatable, Sendable {
    /// The token of a PasswordReset.
    public var token: [UInt8]
    /// The password from now on: at least 6 characters, at most 128 bytes.
    public var newPassword: SecretText

    /// All fields; each must be given.
    public init(token: [UInt8], newPassword: SecretText) {
        self.token = token
        self.newPassword = newPassword
    }
}

/// A session of a user.
///
/// After a call that begins one it is the connection's, too.
public struct UserSession: Equatable, Sendable {
    /// The token for a Hello, of 32 bytes: a secret.
    ///
    /// Only SignUp, SignIn, ChangePassword and ResetPassword return it.
    public var token: [UInt8]
    /// The user.
    public var user: User?
    /// When the session ends if it is not used, in milliseconds since the Unix epoch.
    public var expireTimeMilliseconds: Int64
    /// Whether this call created the account.
    public var createdUser: Bool

    /// All fields; those with a default may be left out.
    public init(
        token: [UInt8] = [],
        user: User?,
        expireTimeMilliseconds: Int64,
        createdUser: Bool = false
    ) {
        self.token = token
        self.user = user
        self.expireTimeMilliseconds = expireTimeMilliseconds
        self.createdUser = createdUser
    }
}

extension ChangeUserRequest: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        case 1: FieldShape(2, .bytes)
        default: FieldShape(3, .int32)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            userID: tree.number(node, 0),
            email: tree.text(node, 1, "email"),
            change: tree.value(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, userID)
        writer.text(2, email)
        writer.value(3, change)
    }
}

extension MakePasswordResetRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .uint64)
        default: FieldShape(2, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            userID: tree.number(node, 0),
            email: tree.text(node, 1, "email")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.number(1, userID)
        writer.text(2, email)
    }
}

extension PasswordReset: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .message(User.self))
        default: FieldShape(3, .uint64)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            token: tree.bytes(node, 0),
            user: tree.message(node, 1, "user"),
            expireTimeMilliseconds: tree.number(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, token)
        writer.message(2, user)
        writer.number(3, expireTimeMilliseconds)
    }
}

extension ResetPasswordRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            token: tree.bytes(node, 0),
            newPassword: tree.secret(node, 1, "new_password")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, token)
        writer.bytes(2, newPassword.utf8)
    }
}

extension UserSession: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 64 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .message(User.self))
        case 2: FieldShape(3, .uint64)
        default: FieldShape(4, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            token: tree.bytes(node, 0),
            user: tree.message(node, 1, "user"),
            expireTimeMilliseconds: tree.number(node, 2),
            createdUser: tree.flag(node, 3)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, token)
        writer.message(2, user)
        writer.number(3, expireTimeMilliseconds)
        writer.flag(4, createdUser)
    }
}
