internal import FeedJournal

/// The folding thread's part in backups: it has the database.
extension FoldWork {
    /// Begins the backup that was asked for, where all of it is folded.
    ///
    /// To be called between two folds. `ready` is called, on another thread, when
    /// ``tendBackup(_:)`` has something to do.
    func beginBackup(_ backups: Backups, ready: @escaping @Sendable () -> Void) {
        guard let wanted = backups.wantedSequence, !backups.isLookingAround, !database.isFrozen,
            wanted <= database.meta.folded.sequence, !database.meta.isFolding
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
