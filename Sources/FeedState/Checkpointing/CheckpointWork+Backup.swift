internal import FeedJournal

/// The checkpoint thread's part in backups: it has the database.
extension CheckpointWork {
    /// Begins the backup that was asked for, where all of its records are checkpointed.
    ///
    /// To be called between two checkpoints. `ready` is called, on another thread, when
    /// ``updateBackup(_:)`` has something to do.
    func beginBackup(_ backups: Backups, ready: @escaping @Sendable () -> Void) {
        guard let wanted = backups.wantedRecord, !backups.isInspecting, !database.isFrozen,
            wanted <= database.meta.checkpointed.number, !database.meta.isCheckpointing
        else { return }
        backups.begin(database, ready: ready)
    }

    /// Watches SQLite's log while `state.db` is copied, and thaws the file once the copy has ended.
    func updateBackup(_ backups: Backups) throws(StateStartError) {
        guard database.isFrozen else { return }
        do throws(StateError) {
            if backups.isReading { backups.observe(logByteCount: try database.logByteCount) }
            if !backups.isReading { try database.thaw() }
        } catch {
            throw .state(error)
        }
    }
}
