internal import FeedConcurrency
internal import FeedState
internal import FeedTransport

/// Backups take longer than a loop iteration. They are made on threads of their own and answered
/// when they are done, after answers to later requests.
extension ServiceLoop {
    /// A request for a backup that waits for it.
    struct WaitingForBackup {
        let connection: ServerConnection
        let requestID: UInt64
        let arrival: MonotonicInstant
    }

    /// Starts the backups that a connection has requested in this loop iteration.
    func startBackups(for connection: ServerConnection) {
        guard !handler.backups.isEmpty, let state = context.state else { return }
        let requests = handler.backups
        handler.backups = []
        for request in requests {
            nextBackup += 1
            let number = nextBackup
            waitingForBackup[number] = WaitingForBackup(
                connection: connection,
                requestID: request,
                arrival: eventLoop.now
            )
            connection.awaitAnswer()
            let mailbox = eventLoop.mailbox
            state.checkpointThread.backUp(through: state.journal.durableBatch) { result in
                mailbox.post { ServiceLoop.of($0).finishBackup(number, result) }
            }
        }
    }

    /// Cancels the backup under way when half of the drain's time is over, so that its answer leaves
    /// before the connections are reset.
    func boundBackupsOfDrain() {
        guard let state = context.state else { return }
        do throws(TransportError) {
            try eventLoop.addTimer(after: context.limits.drainTimeout / 2) {
                state.checkpointThread.backups.cancel(.stopping)
            }
        } catch {
            log.cannotBoundDrain(error)
        }
    }

    private func finishBackup(_ number: UInt64, _ result: Result<BackupSummary, BackupError>) {
        guard let waiting = waitingForBackup.removeValue(forKey: number) else { return }
        handler.answerBackup(waiting.requestID, result, arrival: waiting.arrival)
        handler.answers.send(to: waiting.connection.recipient, through: outbox)
        waiting.connection.awaitedAnswerCame()
    }
}
