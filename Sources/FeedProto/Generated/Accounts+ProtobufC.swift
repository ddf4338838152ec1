// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

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

extension ChangePasswordRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ChangePasswordRequest>) {
        unsafe feed__v1__change_password_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ChangePasswordRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            password: reader.secret(message.pointee.password, "password"),
            newPassword: reader.secret(message.pointee.new_password, "new_password")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ChangePasswordRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.password = arena.bytes(password.utf8)
        unsafe message.pointee.new_password = arena.bytes(newPassword.utf8)
    }
}

extension ChangeEmailRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ChangeEmailRequest>) {
        unsafe feed__v1__change_email_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ChangeEmailRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            password: reader.secret(message.pointee.password, "password"),
            email: reader.text(message.pointee.email, "email")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ChangeEmailRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.password = arena.bytes(password.utf8)
        unsafe message.pointee.email = arena.text(email)
    }
}

extension DeleteAccountRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__DeleteAccountRequest>) {
        unsafe feed__v1__delete_account_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__DeleteAccountRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            password: reader.secret(message.pointee.password, "password"),
            keepsPosts: message.pointee.keep_posts != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__DeleteAccountRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.password = arena.bytes(password.utf8)
        unsafe message.pointee.keep_posts = keepsPosts ? 1 : 0
    }
}

extension ListSessionsResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ListSessionsResponse>) {
        unsafe feed__v1__list_sessions_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ListSessionsResponse>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            sessions: reader.messages(
                message.pointee.sessions,
                count: message.pointee.n_sessions,
                "sessions"
            )
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ListSessionsResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_sessions = sessions.count
        unsafe message.pointee.sessions = arena.messages(sessions)
    }
}

extension SessionInfo: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__SessionInfo>) {
        unsafe feed__v1__session_info__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__SessionInfo>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: SessionID(rawValue: message.pointee.id),
            useTimeMilliseconds: message.pointee.use_time_ms,
            expireTimeMilliseconds: message.pointee.expire_time_ms,
            isCurrent: message.pointee.current != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SessionInfo>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
        unsafe message.pointee.use_time_ms = useTimeMilliseconds
        unsafe message.pointee.expire_time_ms = expireTimeMilliseconds
        unsafe message.pointee.current = isCurrent ? 1 : 0
    }
}

extension EndSessionRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__EndSessionRequest>) {
        unsafe feed__v1__end_session_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__EndSessionRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            id: SessionID(rawValue: message.pointee.id)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__EndSessionRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id.rawValue
    }
}

#endif
