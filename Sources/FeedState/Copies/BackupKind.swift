/// Who asked for a backup; its folder's name says so.
package enum BackupKind: String, Sendable, CaseIterable {
    /// A client, by a call.
    case called = ""

    /// The schedule of the service.
    case scheduled = "-scheduled"

    /// What follows the time in the folder's name.
    var suffix: String { rawValue }
}
