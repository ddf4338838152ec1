internal import FeedProto
internal import FeedRanking
internal import FeedState

/// Backup: a copy of the state, made on a thread of its own.
extension AdministrationCalls {
    /// Lets an operator have the state backed up; the answer follows when the backup is made.
    func backup() throws(Status) -> Answer {
        guard let state = environment.context.state else { throw .notDurable }
        guard state.journal.isWritable else {
            throw .readOnly(
                freeByteCount: state.journal.freeByteCount,
                writableByteCount: state.journal.writableByteCount
            )
        }
        return .afterBackup
    }

    /// Encodes the answer to a request for a backup.
    func answerBackup(
        _ id: UInt64,
        _ result: Result<BackupSummary, BackupError>,
        _ answers: inout Answers
    ) {
        let revision = environment.store.revision
        switch result {
        case .success(let backup):
            let response = BackupResponse(name: backup.name, revision: backup.revision)
            answers.append(ServerFrame(id: id, revision: revision, response: .backup(response)))
        case .failure(let error):
            let status = Status(error)
            environment.counters.countError(.backup, status.reason.rawValue)
            answers.append(ServerFrame(id: id, revision: revision, status: status))
        }
    }
}

extension Status {
    /// The refusal for a backup that was not made.
    fileprivate init(_ error: BackupError) {
        let (code, reason, retryAfter): (StatusCode, Reason, UInt32) =
            switch error {
            case .running: (.resourceExhausted, .backupRunning, 5000)
            case .noRoom: (.resourceExhausted, .backupNoRoom, 0)
            case .roomShrank, .logTooLong: (.aborted, .backupCancelled, 0)
            case .stopping: (.unavailable, .draining, 0)
            case .failed, .damagedCopy: (.internal, .internal, 0)
            }
        self.init(
            code: code,
            reason: reason,
            message: "\(error)",
            isNotExecuted: true,
            retryAfterMilliseconds: retryAfter
        )
    }
}
