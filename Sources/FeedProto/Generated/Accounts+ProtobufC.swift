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
            id: message.pointee.id,
            useTimeMilliseconds: message.pointee.use_time_ms,
            expireTimeMilliseconds: message.pointee.expire_time_ms,
            isCurrent: message.pointee.current != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__SessionInfo>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
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
            id: message.pointee.id
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__EndSessionRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.id = id
    }
}

extension ChangeUserRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ChangeUserRequest>) {
        unsafe feed__v1__change_user_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ChangeUserRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            userID: message.pointee.user_id,
            email: reader.text(message.pointee.email, "email"),
            change: UserChange(message.pointee.change)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ChangeUserRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.user_id = userID
        unsafe message.pointee.email = arena.text(email)
        unsafe message.pointee.change = change.cValue()
    }
}

extension MakePasswordResetRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MakePasswordResetRequest>) {
        unsafe feed__v1__make_password_reset_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MakePasswordResetRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            userID: message.pointee.user_id,
            email: reader.text(message.pointee.email, "email")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MakePasswordResetRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.user_id = userID
        unsafe message.pointee.email = arena.text(email)
    }
}

extension PasswordReset: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PasswordReset>) {
        unsafe feed__v1__password_reset__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PasswordReset>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            token: reader.bytes(message.pointee.token),
            user: reader.message(message.pointee.user, "user"),
            expireTimeMilliseconds: message.pointee.expire_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PasswordReset>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.token = arena.bytes(token)
        unsafe message.pointee.user = arena.message(user)
        unsafe message.pointee.expire_time_ms = expireTimeMilliseconds
    }
}

extension ResetPasswordRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ResetPasswordRequest>) {
        unsafe feed__v1__reset_password_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ResetPasswordRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            token: reader.bytes(message.pointee.token),
            newPassword: reader.secret(message.pointee.new_password, "new_password")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ResetPasswordRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.token = arena.bytes(token)
        unsafe message.pointee.new_password = arena.bytes(newPassword.utf8)
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

#endif
