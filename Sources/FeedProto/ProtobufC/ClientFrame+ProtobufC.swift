import CFeedProto

extension ClientFrame {
    /// Copies the call out of a C struct.
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
            actingUserID: frame.pointee.acting_user_id,
            isTimed: frame.pointee.timed != 0
        )
    }

    /// Copies the call into an empty C struct.
    func write(
        to frame: UnsafeMutablePointer<Feed__V1__ClientFrame>,
        _ arena: borrowing MessageArena
    ) {
        unsafe frame.pointee.id = id
        unsafe frame.pointee.timeout_ms = timeoutMilliseconds
        unsafe frame.pointee.sequence = sequence
        unsafe frame.pointee.min_revision = minimumRevision
        unsafe frame.pointee.acting_user_id = actingUserID
        unsafe frame.pointee.timed = isTimed ? 1 : 0
        if let request { unsafe request.write(to: frame, arena) }
    }
}
