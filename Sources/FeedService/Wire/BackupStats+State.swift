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
            lastName: status.complete?.name ?? "",
            lastTimeMilliseconds: status.complete?.date.unixMilliseconds ?? 0,
            lastByteCount: UInt64(clamping: status.complete?.byteCount ?? 0),
            lastDurationMilliseconds: (status.complete?.duration.wholeMicroseconds ?? 0) / 1000,
            lastError: status.failure.map { "\($0.error)" } ?? "",
            lastErrorTimeMilliseconds: status.failure?.date.unixMilliseconds ?? 0
        )
    }
}

extension Date {
    /// Milliseconds since the Unix epoch.
    fileprivate var unixMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
