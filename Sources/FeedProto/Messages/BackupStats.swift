/// The state of a service's backups.
public struct BackupStats: Equatable, Sendable {
    /// Whether a backup is under way.
    public var isRunning: Bool
    /// The bytes that the backup under way has copied; 0 before the copy begins.
    public var copiedByteCount: UInt64
    /// All bytes of the backup under way; 0 before the copy begins.
    public var byteCount: UInt64
    /// The folder name of the newest complete backup; empty where there is none.
    public var lastName: String
    /// When the newest complete backup was complete, since the Unix epoch; when it began, if an
    /// earlier run of the service made it.
    public var lastTimeMilliseconds: Int64
    /// The bytes of the newest complete backup; 0 where an earlier run of the service made it.
    public var lastByteCount: UInt64
    /// How long the newest complete backup took; 0 where an earlier run of the service made it.
    public var lastDurationMilliseconds: UInt64
    /// Why the last backup since the service's start failed; empty where it is complete.
    public var lastError: String
    /// When that failure was known, since the Unix epoch; 0 where there is no error.
    public var lastErrorTimeMilliseconds: Int64

    /// All fields; by default no backup was ever made.
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
