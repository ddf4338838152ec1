/// What tests put between the service and its disk, to be a slow one; the service sets none of it.
package struct StateTestHooks: Sendable {
    /// Puts a journal before the journal to which commits are appended.
    package var filterJournal: @Sendable (any WatchedJournal) -> any WatchedJournal = { $0 }

    /// What is put between a backup and its disk.
    package var backups = BackupHooks()

    /// Hooks that do nothing.
    package init() {}
}
