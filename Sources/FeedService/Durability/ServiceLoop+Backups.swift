internal import FeedProto
internal import FeedRanking
internal import FeedState
internal import FeedTransport

/// Backups take longer than a turn: they are made on the thread that folds, and answered when they
/// are done, after answers to later requests.
extension ServiceLoop {
    /// Starts the backups that a connection's turn has asked for.
    func startBackups(for connection: TCPConnection) {
        guard !handler.backups.isEmpty, let state = context.state else { return }
        let requests = handler.backups
        handler.backups = []
        for request in requests {
            nextBackup += 1
            let number = nextBackup
            waitingForBackup[number] = (connection, request)
            state.folding.backUp { [mailbox = eventLoop.mailbox] result in
                mailbox.post { ServiceLoop.of($0).finishBackup(number, result) }
            }
        }
    }

    private func finishBackup(_ number: UInt64, _ result: Result<BackupSummary, StateError>) {
        guard let (connection, request) = waitingForBackup.removeValue(forKey: number) else {
            return
        }
        handler.answerBackup(request, result)
        handler.encoder.lendBytes { outlet.send($0, on: connection) }
        handler.encoder.removeAll()
    }
}

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
