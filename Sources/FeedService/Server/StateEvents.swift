internal import FeedConcurrency
internal import FeedJournal
internal import FeedState
internal import FeedTransport
internal import Logging

/// Receives the events of the state's threads and passes them to the loops and to the log.
final class StateEvents: Sendable {
    private struct Listeners {
        var loops: [LoopMailbox] = []
        var failed: (@Sendable (Int32) -> Void)?
        /// The exit status of a state that has failed, maybe before `failed` was set.
        var exitStatus: Int32?
    }

    private let listeners = Lock(Listeners())
    private let slow = Lock<ContinuousClock.Instant?>(nil)
    private let refusedBackups = Lock<ContinuousClock.Instant?>(nil)
    let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Attaches the loops that hold answers, and notifies them of the last durable commit batch.
    func attach(_ loops: [LoopMailbox], durableBatch: UInt64) {
        listeners.withLock { $0.loops = loops }
        release(through: durableBatch)
    }

    /// Calls `body` with an exit status once the state cannot be made durable any more.
    func onFailure(_ body: @escaping @Sendable (Int32) -> Void) {
        let exitStatus = listeners.withLock { listeners in
            listeners.failed = body
            return listeners.exitStatus
        }
        if let exitStatus { body(exitStatus) }
    }

    /// Whether the state cannot be made durable any more.
    var hasFailed: Bool { listeners.withLock { $0.exitStatus != nil } }

    /// The receivers of the events of a directory's state.
    func events(_ directory: String) -> DurableState.Events {
        var events = DurableState.Events()
        events.journal.durable = { [self] in release(through: $0) }
        events.failed = { [self] in fail($0, directory) }
        events.journal.slow = { [self] in warn(of: $0) }
        events.journal.space = { [logger] news in
            let line = OperatorLines.space(news, directory)
            if case .hasRoom = news {
                logger.notice("\(line)")
            } else {
                logger.error("\(line)")
            }
        }
        events.backup = { [self] in report($0) }
        events.journal.checkpoints = { [self] in report($0) }
        return events
    }

    private func release(through commitBatch: UInt64) {
        let loops = listeners.withLock { $0.loops }
        for loop in loops {
            loop.post { ServiceLoop.of($0).release(through: commitBatch) }
        }
    }

    private func fail(_ error: StorageError, _ directory: String) {
        logger.critical("\(OperatorLines.failed(error, directory))")
        // Another try helps after anything but damage.
        let exitStatus: Int32 = error.isDamage ? 5 : 1
        let failed = listeners.withLock { listeners in
            listeners.exitStatus = exitStatus
            return listeners.failed
        }
        failed?(exitStatus)
    }

    /// At most one line a second.
    private func warn(of duration: Duration) {
        guard isDue(slow) else { return }
        let milliseconds = duration / .milliseconds(1)
        logger.warning("a commit took \(Int(milliseconds)) ms: the disk is slow")
    }

    /// At most one line a second, as clients may ask for backups without end.
    func warn(of error: BackupError) {
        guard isDue(refusedBackups) else { return }
        logger.error("no backup was made: \(error)")
    }

    /// Whether the last line of a kind is a second ago.
    private func isDue(_ lastLine: borrowing Lock<ContinuousClock.Instant?>) -> Bool {
        let now = ContinuousClock.now
        return lastLine.withLock { last in
            if let last, last.duration(to: now) < .seconds(1) { return false }
            last = now
            return true
        }
    }

    /// Logs news of checkpoints; the state's threads bound them to a few lines a minute.
    private func report(_ news: CheckpointNews) {
        switch news {
        case .lagging(let backlog, let speed, let refusedCount):
            let isFull = backlog.pendingByteCount >= backlog.limitByteCount
            logger.warning(
                """
                checkpoints lag: \(mebibytes(backlog.pendingByteCount)) of at most \
                \(mebibytes(backlog.limitByteCount)) MiB of changes wait to be written to state.db, \
                which takes \(mebibytes(speed)) MiB/s; changes are \
                \(isFull ? "refused" : "slowed") (\(refusedCount) refused so far), reads are served
                """
            )
        case .caughtUp(let duration, let refusedCount):
            logger.notice(
                """
                checkpoints have caught up after \(seconds(duration)) s: changes are taken at full \
                speed again, \(refusedCount) were refused
                """
            )
        case .stalled(let error):
            logger.error(
                """
                checkpoints are stalled, and tried again every second: make room on the disk. \
                The journal keeps what waits. \(error)
                """
            )
        case .resumed(let duration):
            logger.notice("checkpoints resumed after \(seconds(duration)) s: there is room again")
        }
    }

    private func mebibytes(_ byteCount: Int) -> Double {
        (Double(byteCount) / 1_048_576 * 10).rounded() / 10
    }

    private func seconds(_ duration: Duration) -> Int { Int(duration / .seconds(1)) }
}

extension StateEvents {
    /// Logs the events of backups.
    func report(_ event: BackupEvent) {
        switch event {
        case .began(let name, let byteCount):
            logger.info("backup \(name): begun, \(byteCount) bytes to copy")
        case .done(let backup, let took, let removed):
            let milliseconds = Int(took / .milliseconds(1))
            let rest = removed.isEmpty ? "" : "; removed the oldest: \(list(removed))"
            logger.notice(
                "backup \(backup.name): complete, \(backup.byteCount) bytes in \(milliseconds) ms\(rest)"
            )
        case .failed(let error): warn(of: error)
        case .removedLeftovers(let names):
            logger.notice("removed backups that were not complete: \(list(names))")
        }
    }

    private func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
