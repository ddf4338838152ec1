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
            let mailbox = eventLoop.mailbox
            state.folding.backUp(through: state.journal.durableCut) { result in
                mailbox.post { ServiceLoop.of($0).finishBackup(number, result) }
            }
        }
    }

    private func finishBackup(_ number: UInt64, _ result: Result<BackupSummary, StateError>) {
        guard let (connection, request) = waitingForBackup.removeValue(forKey: number) else {
            return
        }
        handler.answerBackup(request, result)
        handler.sendAnswers(on: connection, through: outlet)
    }
}
