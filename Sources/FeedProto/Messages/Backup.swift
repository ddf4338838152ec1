/// The backup that was made.
public struct BackupResponse: Equatable, Sendable {
    /// Its folder's name, in `backups` of the service's data directory.
    public var name: String
    /// The state it holds: every change up to this revision is in it.
    public var revision: UInt64

    /// A backup of a state.
    public init(name: String, revision: UInt64) {
        self.name = name
        self.revision = revision
    }
}
