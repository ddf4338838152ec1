import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

/// The requests that one connection still has to get answered after a loss or a refusal.
///
/// The value does no input or output and reads no clock.
///
/// Lost or refused requests are put back, wait for a pause to pass, and leave again. The connection
/// takes nothing new until each of them is answered. So the sequences without an answer never span
/// more than its pipeline, however often requests are refused.
struct Recovery {
    /// The sequences of the changes on this connection's channel, and what the service remembers of
    /// them.
    var sequences = SequenceNumbers(hasIdentity: true)
    /// Requests that wait to be sent again, by sequence.
    private(set) var backlog: [InFlightRequest] = []
    /// Requests that were sent again and have no answer yet.
    private(set) var againCount = 0
    /// Consecutive tries that got no request of this connection answered.
    private(set) var round = 0
    var resumeNanoseconds: UInt64 = 0
    /// When requests were last sent again; their time runs from then on.
    var resentNanoseconds: UInt64 = 0
    /// Refusals on the currently open connection.
    private var refusedCount: UInt64 = 0

    /// Whether every request was sent only once or is answered.
    var isComplete: Bool { backlog.isEmpty && againCount == 0 }

    /// Puts back the unanswered requests of a lost connection, which had answered `answeredCount`
    /// requests, refusals included.
    ///
    /// It is unknown whether the changes among those put back were executed.
    mutating func lose(_ requests: some Sequence<InFlightRequest>, answeredCount: UInt64) {
        if answeredCount > refusedCount { round = 0 }
        refusedCount = 0
        againCount = 0
        for var request in requests {
            request.marks.insert(request.sequence > 0 ? [.again, .doubtful] : .again)
            backlog.append(request)
        }
        backlog.sort { $0.sequence < $1.sequence }
        round += 1
    }

    /// Puts back a request that the service refused for now; returns false where it was already
    /// refused `limit` times in a row.
    mutating func postpone(_ refused: InFlightRequest, limit: Int) -> Bool {
        refusedCount += 1
        if !refused.marks.contains(.again) { round = 0 }
        // Requests that are refused together count as one try.
        if backlog.isEmpty { round += 1 }
        guard round <= limit else { return false }
        var request = refused
        if request.marks.contains(.again) { againCount -= 1 }
        request.marks.insert(.again)
        backlog.append(request)
        return true
    }

    mutating func answered() {
        againCount -= 1
        round = 0
    }

    /// Takes all waiting requests, to send them again now or to give them up.
    mutating func takeBacklog() -> [InFlightRequest] {
        defer { backlog.removeAll() }
        return backlog
    }

    mutating func resent(_ count: Int, at now: UInt64) {
        againCount += count
        resentNanoseconds = now
    }

    /// Takes out the requests that the service cannot distinguish from first sends: sent again,
    /// they might count twice.
    mutating func takeDoubtful() -> [InFlightRequest] {
        let doubtful = backlog.filter { $0.marks.contains(.doubtful) }
        backlog.removeAll { $0.marks.contains(.doubtful) }
        return doubtful
    }

    /// How many waiting requests were executed before, according to the last sequence that the
    /// service executed.
    func duplicateCount(through lastSequence: UInt64) -> Int {
        backlog.count { $0.marks.contains(.doubtful) && $0.sequence <= lastSequence }
    }
}

/// How a connection returns, in a run with retries.
///
/// When the connection is lost, or an answer is overdue, its requests in flight are put back. They
/// leave again, with the sequences they had, over the next connection on which Hello is answered.
/// Requests that the service refuses for now are put back too and leave again after a pause.
extension ClientConnection {
    /// Puts back the requests that the lost connection had in flight, and waits before the next
    /// try.
    func recover() {
        let answered = headID > Self.helloID ? headID - Self.helloID - 1 : 0
        let requests = (headID..<nextID).lazy.map { [worker, index] in worker.inFlight[index, $0] }
        recovery.lose(requests.filter { $0.operation != nil }, answeredCount: answered)
        headID = Self.helloID
        (nextID, unwrittenID, unexpiredID) = (headID, headID, headID)
        window = worker.setup.window
        guard recovery.round <= worker.setup.configuration.retryLimit else { return giveUp() }
        let pause = worker.backoff(recovery.round)
        stage = .pausing(until: MonotonicInstant.now.nanoseconds + pause)
    }

    /// Resumes after Hello, as far as the service remembers the earlier requests.
    func resume(_ hello: HelloResponse) {
        guard let identity = worker.setup.identity, hello.instanceID == identity.instanceID,
            hello.capabilities.contains(.exactlyOnce)
        else {
            worker.recorder.totals.failures.count(.stateGone)
            isBroken = true
            connection?.reset()
            return
        }
        // A failure: the service does not know which earlier changes were executed.
        if recovery.sequences.resume(hello) != nil { forgetDoubtful() }
        worker.recorder.totals.retries.duplicateCount += UInt64(
            recovery.duplicateCount(through: hello.lastSequence)
        )
        if isDecided { worker.recorder.totals.retries.reconnectCount += 1 }
        stage = recovery.isComplete ? .open : .recovering
        recovery.resumeNanoseconds = 0
        decide(isOpen: true)
    }

    /// Sends the requests that are due again, and takes new ones once all of those are answered.
    func proceed(at now: UInt64) {
        switch stage {
        case .recovering:
            if !recovery.backlog.isEmpty, now >= recovery.resumeNanoseconds { sendAgain(at: now) }
            if recovery.isComplete { stage = .open }
        case .leaving(let end):
            if !isWaiting || now >= end { connection?.reset() }
        case .greeting(let isRefused):
            if isRefused { connection?.reset() }
        case .ending:
            if !isWaiting, worker.isSending { closeToReopen() }
        case .moving: connection?.reset()
        case .closed, .pausing, .open, .reopening: break
        }
    }

    /// Puts back a request that the service refused for now; returns false where its refusal is
    /// final.
    func postpone(_ request: InFlightRequest, _ status: Status) -> Bool {
        guard worker.isRetrying, status.isTemporary,
            recovery.postpone(request, limit: worker.setup.configuration.retryLimit)
        else { return false }
        worker.recorder.totals.failures.countServerError("\(status.code)/\(status.reason)")
        let advised = UInt64(status.retryAfterMilliseconds) * 1_000_000
        let pause = max(advised, worker.backoff(recovery.round))
        let resume = MonotonicInstant.now.nanoseconds + pause
        recovery.resumeNanoseconds = max(recovery.resumeNanoseconds, resume)
        if status.reason == .draining {
            leave(within: 0)
        } else if search != nil, status.isForOthers {
            search?.turn(to: status.leader)
            leave(within: 0)
        } else if isOpen {
            stage = .recovering
        }
        return true
    }

    /// Takes no more requests on this connection, because the service is about to close it.
    func leave(within milliseconds: UInt32) {
        guard worker.isRetrying, isOpen || stage == .recovering else { return }
        let patience = max(UInt64(milliseconds) * 1_000_000, worker.timeoutNanoseconds)
        stage = .leaving(until: MonotonicInstant.now.nanoseconds + patience)
    }

    func abandonBacklog() {
        for request in recovery.takeBacklog() {
            // The service refused any other each time it was sent.
            let isUnknown = request.marks.contains(.doubtful) || request.sequence == 0
            worker.end(request, as: isUnknown ? .lost : .failed, client: index)
        }
    }

    private func sendAgain(at now: UInt64) {
        let requests = recovery.takeBacklog()
        for request in requests {
            worker.inFlight[index, nextID] = request
            encode(request, id: nextID)
            nextID &+= 1
        }
        unwrittenID = nextID
        window.send(requests.count)
        recovery.resent(requests.count, at: now)
        worker.recorder.totals.retries.retryCount += UInt64(requests.count)
        write()
    }

    /// Gives up requests that a service may have executed and has forgotten: it cannot
    /// distinguish a second send from a first one.
    private func forgetDoubtful() {
        for request in recovery.takeDoubtful() {
            worker.recorder.totals.failures.count(.forgotten)
            worker.end(request, as: .lost, client: index)
        }
    }

    private static let helloID: UInt64 = 1
}
