internal import FeedJournal

/// The checkpoint thread's part in backups: it has the database.
extension CheckpointWork {
    /// Begins the backup that was asked for, where all of its records are checkpointed.
    ///
    /// To be called between two checkpoints. `ready` is called, on another thread, when
    /// ``tendBackup(_:)`` has something to do.
    func beginBackup(_ backups: Backups, ready: @escaping @Sendable () -> Void) {
        guard let wanted = backups.wantedRecord, !backups.isLookingAround, !database.isFrozen,
            wanted <= database.meta.checkpointed.number, !database.meta.isCheckpointing
        else { return }
        backups.begin(database, ready: ready)
    }

    /// Looks after `state.db` while it is copied, and lets it change again when that has ended.
    func tendBackup(_ backups: Backups) throws(StateStartError) {
        guard database.isFrozen else { return }
        do throws(StateError) {
            if backups.isReading { backups.observe(logByteCount: try database.logByteCount) }
            if !backups.isReading { try database.thaw() }
        } catch {
            throw .state(error)
        }
    }
}
