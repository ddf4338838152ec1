/// What tests put between the service and its disk, to be a slow one; the service sets none of it.
package struct StateTestHooks: Sendable {
    /// Puts a journal before the journal to which commits are appended.
    package var filterJournal: @Sendable (any WatchedJournal) -> any WatchedJournal = { $0 }

    /// Called on the backup's thread before each step of a copy.
    package var beforeCopyStep: @Sendable () -> Void = {}

    /// Hooks that do nothing.
    package init() {}
}
