#if canImport(CFeedProto)
import CFeedProto

extension ClientFrame {
    init(
        _ frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        byteCount: Int
    ) throws(MessageError) {
        let reader = unsafe WireReader(byteCount: byteCount, frameID: frame.pointee.id)
        try unsafe reader.rejectFieldZero(frame)
        try unsafe self.init(
            id: frame.pointee.id,
            request: Request(frame, reader),
            timeoutMilliseconds: frame.pointee.timeout_ms,
            sequence: frame.pointee.sequence,
            minimumRevision: frame.pointee.min_revision,
            actingUserID: UserID(rawValue: frame.pointee.acting_user_id),
            isTimed: frame.pointee.timed != 0
        )
    }

    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.timeout_ms = timeoutMilliseconds
        unsafe frame.pointee.sequence = sequence
        unsafe frame.pointee.min_revision = minimumRevision
        unsafe frame.pointee.acting_user_id = actingUserID.rawValue
        unsafe frame.pointee.timed = isTimed ? 1 : 0
        if let request { unsafe request.write(to: frame, arena) }
    }
}

extension ServerFrame {
    init(
        _ frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        byteCount: Int
    ) throws(MessageError) {
        let reader = unsafe WireReader(byteCount: byteCount, frameID: frame.pointee.id)
        try unsafe reader.rejectFieldZero(frame)
        id = unsafe frame.pointee.id
        revision = unsafe frame.pointee.revision
        status = try unsafe reader.message(frame.pointee.status, "status")
        hasMore = unsafe frame.pointee.more != 0
        times = try unsafe reader.message(frame.pointee.times, "times")
        response = try unsafe Response(frame, reader)
    }

    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ServerFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.revision = revision
        unsafe frame.pointee.status = arena.message(status)
        unsafe frame.pointee.more = hasMore ? 1 : 0
        unsafe frame.pointee.times = arena.message(times)
        if let response { unsafe response.write(to: frame, arena) }
    }
}
#endif
