// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

/// Creates an account and signs in; takes no sequence.
///
/// EMAIL_TAKEN where the e-mail address has one. The answer may come after the answers to later
/// calls of the connection.
///
/// The answer: `UserSession`.
public struct SignUpRequest: Equatable, Sendable {
    /// The e-mail address, of at most 254 bytes; small and capital ASCII letters are the same.
    public var email: String
    /// The password: at least 6 characters, at most 128 bytes.
    public var password: SecretText
    /// The name that posts show: 1 to 50 characters and at most 200 bytes; empty is the part of the
    /// e-mail address before the @.
    public var displayName: String

    /// All fields; those with a default may be left out.
    public init(email: String, password: SecretText, displayName: String = "") {
        self.email = email
        self.password = password
        self.displayName = displayName
    }
}

/// Signs in; takes no sequence.
///
/// BAD_CREDENTIALS where the password is another one, and where there is no account. The answer may
/// come after the answers to later calls of the connection.
///
/// The answer: `UserSession`.
public struct SignInRequest: Equatable, Sendable {
    /// The e-mail address.
    public var email: String
    /// The password.
    public var password: SecretText
    /// Whether an account is created where the e-mail address has none.
    public var createsIfMissing: Bool

    /// All fields; those with a default may be left out.
    public init(email: String, password: SecretText, createsIfMissing: Bool = false) {
        self.email = email
        self.password = password
        self.createsIfMissing = createsIfMissing
    }
}

/// Ends the session of the connection, which has no user from then on.
///
/// Other connections with the session get SESSION_EXPIRED.
///
/// The answer: `Empty`.
public struct SignOutRequest: Equatable, Sendable {
    /// Whether all sessions of the user end.
    public var endsEverywhere: Bool

    /// All fields; each has a default.
    public init(endsEverywhere: Bool = false) {
        self.endsEverywhere = endsEverywhere
    }
}

/// A session of a user.
///
/// After a SignUp or a SignIn it is the connection's, too.
public struct UserSession: Equatable, Sendable {
    /// The token for a Hello, of 32 bytes: a secret.
    ///
    /// Only SignUp and SignIn return it.
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

extension SignUpRequest: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 72 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .bytes)
        default: FieldShape(3, .bytes)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            email: tree.text(node, 0, "email"),
            password: tree.secret(node, 1, "password"),
            displayName: tree.text(node, 2, "display_name")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, email)
        writer.bytes(2, password.utf8)
        writer.text(3, displayName)
    }
}

extension SignInRequest: SwiftMessage {
    package static var fieldCount: Int { 3 }
    package static var structByteCount: Int { 64 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        case 1: FieldShape(2, .bytes)
        default: FieldShape(3, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            email: tree.text(node, 0, "email"),
            password: tree.secret(node, 1, "password"),
            createsIfMissing: tree.flag(node, 2)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.text(1, email)
        writer.bytes(2, password.utf8)
        writer.flag(3, createsIfMissing)
    }
}

extension SignOutRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 32 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .bool)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            endsEverywhere: tree.flag(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.flag(1, endsEverywhere)
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
