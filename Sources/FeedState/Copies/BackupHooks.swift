/// What tests put between a backup and its disk; the service sets none of it.
package struct BackupHooks: Sendable {
    /// Called on the backup's thread before each step of a copy.
    package var beforeCopyStep: @Sendable () -> Void = {}

    /// Called on the backup's thread with the folder's name before a copy is checked.
    package var beforeVerification: @Sendable (String) -> Void = { _ in }

    /// Hooks that do nothing.
    package init() {}
}
