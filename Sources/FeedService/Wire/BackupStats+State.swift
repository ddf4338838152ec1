internal import FeedProto
internal import FeedState
internal import FoundationEssentials

extension BackupStats {
    /// The state of backups now.
    init(_ status: BackupStatus) {
        self.init(
            isRunning: status.isRunning,
            copiedByteCount: UInt64(clamping: status.copiedByteCount),
            byteCount: UInt64(clamping: status.byteCount),
            failureCount: status.failureCount
        )
        if let complete = status.complete {
            lastName = complete.name
            lastTimeMilliseconds = complete.date.unixMilliseconds
            lastByteCount = UInt64(clamping: complete.byteCount)
            lastDurationMilliseconds = complete.duration.wholeMicroseconds / 1000
        }
        if let failure = status.failure {
            lastError = "\(failure.error)"
            lastErrorTimeMilliseconds = failure.date.unixMilliseconds
        }
        if let interval = status.interval { scheduleIntervalMilliseconds = UInt64(interval * 1000) }
        if let due = status.due { nextTimeMilliseconds = due.unixMilliseconds }
    }
}

extension Date {
    /// Milliseconds since the Unix epoch.
    fileprivate var unixMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
