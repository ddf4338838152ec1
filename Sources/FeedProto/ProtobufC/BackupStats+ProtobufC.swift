import CFeedProto

extension BackupStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BackupStats>) {
        unsafe feed__v1__backup_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BackupStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            isRunning: message.pointee.running != 0,
            copiedByteCount: message.pointee.copied_bytes,
            byteCount: message.pointee.total_bytes,
            lastName: reader.text(message.pointee.last_name, "last_name"),
            lastTimeMilliseconds: message.pointee.last_time_ms,
            lastByteCount: message.pointee.last_bytes,
            lastDurationMilliseconds: message.pointee.last_duration_ms,
            lastError: reader.text(message.pointee.last_error, "last_error"),
            lastErrorTimeMilliseconds: message.pointee.last_error_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BackupStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.running = isRunning ? 1 : 0
        unsafe message.pointee.copied_bytes = copiedByteCount
        unsafe message.pointee.total_bytes = byteCount
        unsafe message.pointee.last_name = arena.text(lastName)
        unsafe message.pointee.last_time_ms = lastTimeMilliseconds
        unsafe message.pointee.last_bytes = lastByteCount
        unsafe message.pointee.last_duration_ms = lastDurationMilliseconds
        unsafe message.pointee.last_error = arena.text(lastError)
        unsafe message.pointee.last_error_time_ms = lastErrorTimeMilliseconds
    }
}
