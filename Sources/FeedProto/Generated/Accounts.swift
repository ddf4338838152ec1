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

/// Changes the password of the connection's user; takes no sequence.
///
/// BAD_CREDENTIALS if `password` is another one. All sessions of the user end, and a new one
/// begins: the connection's. The answer may come after the answers to later calls of the
/// connection.
///
/// The answer: `UserSession`.
public struct ChangePasswordRequest: Equatable, Sendable {
    /// The password that the user has.
    public var password: SecretText
    /// The password from now on: at least 6 characters, at most 128 bytes.
    public var newPassword: SecretText

    /// All fields; each must be given.
    public init(password: SecretText, newPassword: SecretText) {
        self.password = password
        self.newPassword = newPassword
    }
}

/// Gives the connection's user another e-mail address; takes no sequence.
///
/// BAD_CREDENTIALS if `password` is another one, EMAIL_TAKEN if the address has an account. The
/// sessions stay. The answer may come after the answers to later calls of the connection.
///
/// The answer: `Empty`.
public struct ChangeEmailRequest: Equatable, Sendable {
    /// The password that the user has.
    public var password: SecretText
    /// The e-mail address from now on, of at most 254 bytes.
    public var email: String

    /// All fields; each must be given.
    public init(password: SecretText, email: String) {
        self.password = password
        self.email = email
    }
}

/// Deletes the account of the connection's user; takes no sequence.
///
/// BAD_CREDENTIALS if `password` is another one. All sessions of the user end, the connection's
/// too, and the e-mail address is free. The posts go, or lose their author, in the seconds after
/// the answer. Votes and marks stay, under a number that is nobody's. The answer may come after the
/// answers to later calls of the connection.
///
/// The answer: `Empty`.
public struct DeleteAccountRequest: Equatable, Sendable {
    /// The password that the user has.
    public var password: SecretText
    /// Whether the user's posts stay, without an author; without it they are deleted.
    public var keepsPosts: Bool

    /// All fields; those with a default may be left out.
    public init(password: SecretText, keepsPosts: Bool = false) {
        self.password = password
        self.keepsPosts = keepsPosts
    }
}

/// The sessions of a user.
public struct ListSessionsResponse: Equatable, Sendable {
    /// The sessions, the one that began first in front: 32 at most.
    public var sessions: [SessionInfo]

    /// All fields; each has a default.
    public init(sessions: [SessionInfo] = []) {
        self.sessions = sessions
    }
}

/// A session in a list.
public struct SessionInfo: Equatable, Sendable {
    /// Names the session for EndSession.
    ///
    /// Nobody can show it in place of the token.
    public var id: SessionID
    /// When it was used last, in milliseconds since the Unix epoch; up to a day earlier than it
    /// was.
    public var useTimeMilliseconds: Int64
    /// When it ends if it is not used, in milliseconds since the Unix epoch.
    public var expireTimeMilliseconds: Int64
    /// Whether it is the connection's.
    public var isCurrent: Bool

    /// All fields; each must be given.
    public init(
        id: SessionID,
        useTimeMilliseconds: Int64,
        expireTimeMilliseconds: Int64,
        isCurrent: Bool
    ) {
        self.id = id
        self.useTimeMilliseconds = useTimeMilliseconds
        self.expireTimeMilliseconds = expireTimeMilliseconds
        self.isCurrent = isCurrent
    }
}

/// Ends a session of the connection's user.
///
/// If the user has no such session, nothing happens: it may have ended by itself.
///
/// The answer: `Empty`.
public struct EndSessionRequest: Equatable, Sendable {
    /// The id of the session in ListSessions.
    public var id: SessionID

    /// All fields; each must be given.
    public init(id: SessionID) {
        self.id = id
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

extension ChangePasswordRequest: SwiftMessage {
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
            password: tree.secret(node, 0, "password"),
            newPassword: tree.secret(node, 1, "new_password")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, password.utf8)
        writer.bytes(2, newPassword.utf8)
    }
}

extension ChangeEmailRequest: SwiftMessage {
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
            password: tree.secret(node, 0, "password"),
            email: tree.text(node, 1, "email")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, password.utf8)
        writer.text(2, email)
    }
}

extension DeleteAccountRequest: SwiftMessage {
    package static var fieldCount: Int { 2 }
    package static var structByteCount: Int { 48 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .bytes)
        default: FieldShape(2, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            password: tree.secret(node, 0, "password"),
            keepsPosts: tree.flag(node, 1)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.bytes(1, password.utf8)
        writer.flag(2, keepsPosts)
    }
}

extension ListSessionsResponse: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 40 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .message(SessionInfo.self), .repeated)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) throws(MessageError) {
        try self.init(
            sessions: tree.messages(node, 0, "sessions")
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.messages(1, sessions)
    }
}

extension SessionInfo: SwiftMessage {
    package static var fieldCount: Int { 4 }
    package static var structByteCount: Int { 56 }

    package static func field(_ index: Int) -> FieldShape {
        switch index {
        case 0: FieldShape(1, .fixed64)
        case 1: FieldShape(2, .uint64)
        case 2: FieldShape(3, .uint64)
        default: FieldShape(4, .bool)
        }
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0),
            useTimeMilliseconds: tree.number(node, 1),
            expireTimeMilliseconds: tree.number(node, 2),
            isCurrent: tree.flag(node, 3)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.fixed64(1, id)
        writer.number(2, useTimeMilliseconds)
        writer.number(3, expireTimeMilliseconds)
        writer.flag(4, isCurrent)
    }
}

extension EndSessionRequest: SwiftMessage {
    package static var fieldCount: Int { 1 }
    package static var structByteCount: Int { 32 }

    package static func field(_ index: Int) -> FieldShape {
        FieldShape(1, .fixed64)
    }

    init(
        _ node: Int,
        in tree: borrowing MessageTree
    ) {
        self.init(
            id: tree.number(node, 0)
        )
    }

    func write(to writer: inout MessageWriter) {
        writer.fixed64(1, id)
    }
}
