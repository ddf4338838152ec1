// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

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

extension SignUpRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SignUpRequest>) {
        unsafe feed__v1__sign_up_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SignUpRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            email: reader.text(message.pointee.email, "email"),
            password: reader.secret(message.pointee.password, "password"),
            displayName: reader.text(message.pointee.display_name, "display_name")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SignUpRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.email = arena.text(email)
        unsafe message.pointee.password = arena.bytes(password.utf8)
        unsafe message.pointee.display_name = arena.text(displayName)
    }
}

extension SignInRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SignInRequest>) {
        unsafe feed__v1__sign_in_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SignInRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            email: reader.text(message.pointee.email, "email"),
            password: reader.secret(message.pointee.password, "password"),
            createsIfMissing: message.pointee.create_if_missing != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SignInRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.email = arena.text(email)
        unsafe message.pointee.password = arena.bytes(password.utf8)
        unsafe message.pointee.create_if_missing = createsIfMissing ? 1 : 0
    }
}

extension SignOutRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SignOutRequest>) {
        unsafe feed__v1__sign_out_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SignOutRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            endsEverywhere: message.pointee.everywhere != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SignOutRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.everywhere = endsEverywhere ? 1 : 0
    }
}

extension UserSession: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__UserSession>) {
        unsafe feed__v1__user_session__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__UserSession>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            token: reader.bytes(message.pointee.token),
            user: reader.message(message.pointee.user, "user"),
            expireTimeMilliseconds: message.pointee.expire_time_ms,
            createdUser: message.pointee.user_created != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__UserSession>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.token = arena.bytes(token)
        unsafe message.pointee.user = arena.message(user)
        unsafe message.pointee.expire_time_ms = expireTimeMilliseconds
        unsafe message.pointee.user_created = createdUser ? 1 : 0
    }
}
