internal import FeedProto
internal import FeedRanking
internal import FeedState

extension RequestHandler {
    /// Encodes the answer to a request for a backup.
    mutating func answerBackup(_ id: UInt64, _ result: Result<BackupSummary, StateError>) {
        let revision = store.revision
        switch result {
        case .success(let backup):
            let response = BackupResponse(name: backup.name, revision: backup.revision)
            append(ServerFrame(id: id, revision: revision, response: .backup(response)))
        case .failure(let error):
            let status = Status(
                code: .internal,
                reason: .internal,
                message: "No backup was made. \(error)",
                isNotExecuted: true
            )
            counters.countError(.backup, status.reason.rawValue)
            append(ServerFrame(id: id, revision: revision, status: status))
        }
    }
}
