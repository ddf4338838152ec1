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
        /// The service as one of a cluster's; nil without one.
        var cluster: Cluster?
        /// The term in which the service leads its cluster; nil if it does not.
        var term: UInt64?
    }

    private let listeners = Lock(Listeners())
    private let slow = Lock<ContinuousClock.Instant?>(nil)
    private let refusedBackups = Lock<ContinuousClock.Instant?>(nil)
    let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    /// Attaches the loops that hold answers, and notifies them of the last durable commit batch.
    func attach(_ loops: [LoopMailbox], durableBatch: UInt64) {
        let term = listeners.withLock { listeners in
            listeners.loops = loops
            return listeners.term
        }
        release(through: durableBatch)
        if let term { beginLeading(loops, term) }
    }

    /// Calls `body` with an exit status once the state cannot be made durable any more.
    func onFailure(_ body: @escaping @Sendable (Int32) -> Void) {
        let exitStatus = listeners.withLock { listeners in
            listeners.failed = body
            return listeners.exitStatus
        }
        if let exitStatus { body(exitStatus) }
    }

    /// Why the process is about to end, in a few words; nil if it is not.
    var failure: String? {
        listeners.withLock { $0.exitStatus }.map {
            $0 == Self.deposedStatus
                ? "the service ends, to be started again as one that follows"
                : "failing: the state can no more be made durable"
        }
    }

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
        events.replica.follow = { [self] chain in
            guard let cluster else { preconditionFailure("A node is attached before it starts.") }
            return cluster.follow(chain)
        }
        events.replica.role = { [self] in take($0) }
        events.replica.proved = { [self] in prove(through: $0) }
        events.replica.deposed = { [self] in depose($0, $1) }
        events.replica.ended = { [self] in end($0) }
        events.replica.installing = { [self] record in
            cluster?.node.install(record)
            logger.notice("\(OperatorLines.installs(record))")
        }
        events.replica.heard = { [self] in cluster?.node.hear($0, atMicroseconds: $1) }
        events.replica.status = { [self] in cluster?.node.note($0) }
        events.replica.news = { [self] in report($0) }
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
        end(error.isDamage ? 5 : 1)
    }

    private func end(_ exitStatus: Int32) {
        let failed = listeners.withLock { listeners in
            listeners.exitStatus = exitStatus
            return listeners.failed
        }
        failed?(exitStatus)
    }

    /// At most one line a second.
    private func warn(of duration: Duration) {
        guard isDue(slow) else { return }
        logger.warning("\(OperatorLines.slowCommit(duration, isOfCluster: cluster != nil))")
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

/// The service as one of a cluster's.
extension StateEvents {
    /// The status of a process that ends because another one may lead: its supervisor starts it again.
    static let deposedStatus = ReplicaEnding.startAgain
    /// How long a deposed leader takes to say so to its clients.
    private static let farewellTime = Duration.milliseconds(50)

    /// What the service is in its cluster, and the state that the log changes while it follows.
    fileprivate struct Cluster {
        let node: ClusterNode
        let channels: ChannelTable
        /// Makes what applies the records of the log.
        let follow: @Sendable (RecordChain) -> LiveApply
    }

    private var cluster: Cluster? { listeners.withLock { $0.cluster } }

    /// Attaches what the service is in its cluster, before the state's threads are started.
    func attach(
        _ node: ClusterNode,
        _ channels: ChannelTable,
        follow: @escaping @Sendable (RecordChain) -> LiveApply
    ) {
        let cluster = Cluster(node: node, channels: channels, follow: follow)
        listeners.withLock { $0.cluster = cluster }
    }

    private func take(_ state: NodeState) {
        switch state {
        case .following(let leader):
            guard cluster?.node.follow(leader) == true else { return }
            logger.notice("\(OperatorLines.follows(leader))")
        case .leading(let term):
            cluster?.channels.beginLeading()
            let loops = listeners.withLock { listeners in
                listeners.term = term
                return listeners.loops
            }
            if !loops.isEmpty { beginLeading(loops, term) }
        }
    }

    /// Lets changes in, once no loop answers a read without proof any more.
    private func beginLeading(_ loops: [LoopMailbox], _ term: UInt64) {
        let restCount = Lock(loops.count)
        let isReady = { @Sendable [self] in
            let isLast = restCount.withLock { count in
                count -= 1
                return count == 0
            }
            guard isLast, cluster?.node.lead(inTerm: term) == true else { return }
            logger.notice("\(OperatorLines.leads(inTerm: term))")
        }
        for loop in loops {
            let isPosted = loop.post {
                ServiceLoop.of($0).lead()
                isReady()
            }
            if !isPosted { isReady() }
        }
    }

    private func prove(through round: UInt64) {
        let loops = listeners.withLock { $0.loops }
        for loop in loops { loop.post { ServiceLoop.of($0).prove(through: round) } }
    }

    /// Nothing that is held is answered any more: the clients are told whom to ask, and the process ends.
    private func depose(_ deposition: Deposition, _ leader: String?) {
        cluster?.node.depose(leader)
        logger.notice("\(OperatorLines.deposed(deposition, leader))")
        let deadline = MonotonicInstant.now.advanced(by: Self.farewellTime)
        let isSaid = Semaphore()
        let loops = listeners.withLock { $0.loops }
        let saying = loops.filter { loop in
            loop.post {
                ServiceLoop.of($0).leaveLeadership(to: leader)
                isSaid.signal()
            }
        }
        for _ in saying {
            guard isSaid.wait(upTo: deadline.duration(since: .now)) else { break }
        }
        end(Self.deposedStatus)
    }

    private func end(_ ending: ReplicaEnding) {
        if ending.exitStatus == ReplicaEnding.startAgain {
            logger.notice("stopped: \(ending.sentence)")
        } else {
            logger.critical("stopped: \(ending.sentence)")
        }
        end(ending.exitStatus)
    }

    private func report(_ news: ReplicaNews) {
        switch news {
        case .connected, .givesCopy: logger.info("\(OperatorLines.replica(news))")
        case .disconnected, .refused, .givesNoCopy, .clockIsBehind:
            logger.warning("\(OperatorLines.replica(news))")
        }
    }
}
