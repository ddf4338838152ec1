/// How backups are made, and how many are kept.
package struct BackupOptions: Sendable {
    /// How many complete backups are kept: the oldest go once a new one is complete.
    package var keptCount = 7

    /// How fast `state.db` is copied at most, in bytes a second: 64 MiB.
    package var byteRate = 64 << 20

    /// How many bytes are copied and written to the disk at a time: 4 MiB.
    ///
    /// A commit that comes meanwhile waits for no more than these.
    package var stepByteCount = 4 << 20

    /// How far SQLite's log may grow while `state.db` is held still for a copy, in bytes: 256 MiB.
    ///
    /// Beyond it the backup is cancelled: a start after a kill moves the whole log into the file
    /// before it serves, which takes a second or two for so much.
    package var maximumLogByteCount = 256 << 20

    /// The defaults.
    package init() {}
}
