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
