// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension ChangeUserRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__ChangeUserRequest>) {
        unsafe feed__v1__change_user_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__ChangeUserRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            userID: UserID(rawValue: message.pointee.user_id),
            email: reader.text(message.pointee.email, "email"),
            change: UserChange(message.pointee.change)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__ChangeUserRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.user_id = userID.rawValue
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
            userID: UserID(rawValue: message.pointee.user_id),
            email: reader.text(message.pointee.email, "email")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MakePasswordResetRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.user_id = userID.rawValue
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
