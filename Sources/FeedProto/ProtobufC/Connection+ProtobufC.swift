import CFeedProto

extension PingRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PingRequest>) {
        unsafe feed__v1__ping_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PingRequest>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            payload: reader.bytes(message.pointee.payload)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PingRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.payload = arena.bytes(payload)
    }
}

extension PingResponse: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__PingResponse>) {
        unsafe feed__v1__ping_response__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__PingResponse>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            payload: reader.bytes(message.pointee.payload),
            serving: ServingStatus(message.pointee.serving)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__PingResponse>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.payload = arena.bytes(payload)
        unsafe message.pointee.serving = serving.cValue()
    }
}

extension GoAway: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__GoAway>) {
        unsafe feed__v1__go_away__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__GoAway>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            lastID: message.pointee.last_id,
            drainMilliseconds: message.pointee.drain_ms,
            reason: Reason(rawValue: reader.text(message.pointee.reason, "reason"))
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__GoAway>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.last_id = lastID
        unsafe message.pointee.drain_ms = drainMilliseconds
        unsafe message.pointee.reason = arena.text(reason.rawValue)
    }
}
