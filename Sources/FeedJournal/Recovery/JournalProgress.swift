/// How far a scan has come.
package struct JournalProgress: Equatable, Sendable {
    /// What has been read and checked.
    package let completedByteCount: Int

    /// What there is to read.
    package let totalByteCount: Int

    /// The last record that was checked.
    package let number: UInt64
}
