import CFeedProto

extension ServerFrame {
    /// Copies the answer out of a C struct.
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

    /// Copies the answer into an empty C struct.
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
