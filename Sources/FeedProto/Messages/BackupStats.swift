/// How a service's backups are doing.
public struct BackupStats: Equatable, Sendable {
    /// Whether one is under way.
    public var isRunning: Bool
    /// Of the one under way, the bytes that are copied; 0 before the copy begins.
    public var copiedByteCount: UInt64
    /// Of the one under way, all bytes; 0 before the copy begins.
    public var byteCount: UInt64
    /// The folder's name of the newest complete backup; empty where there is none.
    public var lastName: String
    /// When that was complete, since the Unix epoch; when it began, if an earlier run of the service
    /// has made it.
    public var lastTimeMilliseconds: Int64
    /// The bytes that it takes; 0 where an earlier run of the service has made it.
    public var lastByteCount: UInt64
    /// How long it took; 0 where an earlier run of the service has made it.
    public var lastDurationMilliseconds: UInt64
    /// Why the last backup since the service's start is none; empty where it is complete.
    public var lastError: String
    /// When that was known, since the Unix epoch; 0 where there is no error.
    public var lastErrorTimeMilliseconds: Int64

    /// All of them; by default no backup was ever made.
    public init(
        isRunning: Bool = false,
        copiedByteCount: UInt64 = 0,
        byteCount: UInt64 = 0,
        lastName: String = "",
        lastTimeMilliseconds: Int64 = 0,
        lastByteCount: UInt64 = 0,
        lastDurationMilliseconds: UInt64 = 0,
        lastError: String = "",
        lastErrorTimeMilliseconds: Int64 = 0
    ) {
        self.isRunning = isRunning
        self.copiedByteCount = copiedByteCount
        self.byteCount = byteCount
        self.lastName = lastName
        self.lastTimeMilliseconds = lastTimeMilliseconds
        self.lastByteCount = lastByteCount
        self.lastDurationMilliseconds = lastDurationMilliseconds
        self.lastError = lastError
        self.lastErrorTimeMilliseconds = lastErrorTimeMilliseconds
    }
}
