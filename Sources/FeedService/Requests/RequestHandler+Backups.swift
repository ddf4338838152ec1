internal import FeedProto
internal import FeedRanking
internal import FeedState

extension RequestHandler {
    /// Has the state backed up for a service; the answer comes once that is done.
    func backup(from caller: borrowing Caller) throws(Status) -> Answer {
        try requireService(caller)
        guard let state = context.state else { throw .notDurable }
        guard state.journal.isWritable else {
            throw .readOnly(state.journal)
        }
        return .afterBackup
    }

    /// Encodes the answer to a request for a backup.
    mutating func answerBackup(_ id: UInt64, _ result: Result<BackupSummary, BackupError>) {
        let revision = store.revision
        switch result {
        case .success(let backup):
            let response = BackupResponse(name: backup.name, revision: backup.revision)
            append(ServerFrame(id: id, revision: revision, response: .backup(response)))
        case .failure(let error):
            let status = Status(error)
            counters.countError(.backup, status.reason.rawValue)
            append(ServerFrame(id: id, revision: revision, status: status))
        }
    }
}

extension Status {
    /// Why there is no backup.
    fileprivate init(_ error: BackupError) {
        let (code, reason, retryAfter): (StatusCode, Reason, UInt32) =
            switch error {
            case .running: (.resourceExhausted, .backupRunning, 5000)
            case .noRoom: (.resourceExhausted, .backupNoRoom, 0)
            case .roomShrank, .logTooLong: (.aborted, .backupCancelled, 0)
            case .stopping: (.unavailable, .draining, 0)
            case .failed: (.internal, .internal, 0)
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
