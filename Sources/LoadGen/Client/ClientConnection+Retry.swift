internal import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

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
        window = PipelineWindow(depth: window.depth, mode: window.mode)
        isRefused = false
        guard recovery.round <= worker.setup.configuration.retryLimit else { return giveUp() }
        stage = .pausing
        let now = MonotonicInstant.now.nanoseconds
        recovery.resumeNanoseconds = now + worker.backoff(recovery.round)
    }

    /// Resumes after Hello, as far as the service remembers the earlier requests.
    func resume(_ hello: HelloResponse) {
        guard let identity = worker.setup.identity, hello.instanceID == identity.instanceID,
            hello.capabilities.contains(.exactlyOnce)
        else {
            worker.recorder.failures.count(.stateGone)
            isBroken = true
            connection?.reset()
            return
        }
        if !recovery.resume(hello) { forgetDoubtful() }
        worker.recorder.retries.duplicateCount += UInt64(
            recovery.duplicateCount(through: hello.lastSequence)
        )
        if isDecided { worker.recorder.retries.reconnectCount += 1 }
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
        case .leaving:
            if !isWaiting || now >= leaveNanoseconds { connection?.reset() }
        case .greeting:
            if isRefused { connection?.reset() }
        case .ending:
            if !isWaiting, worker.isSending { closeToReopen() }
        case .closed, .pausing, .open, .reopening: break
        }
    }

    /// Puts back a request that the service refused for now; returns false where its refusal is
    /// final.
    func postpone(_ request: InFlightRequest, _ status: Status) -> Bool {
        guard worker.isRetrying, status.isTemporary,
            recovery.postpone(request, limit: worker.setup.configuration.retryLimit)
        else { return false }
        worker.recorder.failures.countServerError("\(status.code)/\(status.reason)")
        let advised = UInt64(status.retryAfterMilliseconds) * 1_000_000
        let pause = max(advised, worker.backoff(recovery.round))
        let resume = MonotonicInstant.now.nanoseconds + pause
        recovery.resumeNanoseconds = max(recovery.resumeNanoseconds, resume)
        if status.reason == .draining {
            leave(within: 0)
        } else if stage == .open {
            stage = .recovering
        }
        return true
    }

    /// Takes no more requests on this connection, because the service is about to close it.
    func leave(within milliseconds: UInt32) {
        guard worker.isRetrying, stage == .open || stage == .recovering else { return }
        stage = .leaving
        let patience = max(UInt64(milliseconds) * 1_000_000, worker.timeoutNanoseconds)
        leaveNanoseconds = MonotonicInstant.now.nanoseconds + patience
    }

    /// Gives up the requests that wait to be sent again.
    func abandonBacklog() {
        for request in recovery.takeBacklog() {
            if request.marks.contains(.doubtful) || request.sequence == 0 {
                lose(request)
            } else {
                // The service refused it each time it was sent.
                worker.outstandingCount -= 1
                worker.recorder.outcomes.error += UInt64(worker.weight(request))
                worker.fail(request)
                worker.release(request)
            }
        }
    }

    /// Gives up a request whose outcome is unknown.
    func lose(_ request: InFlightRequest) {
        worker.outstandingCount -= 1
        worker.recorder.outcomes.lost += UInt64(worker.weight(request))
        worker.forget(request, client: number)
        worker.release(request)
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
        worker.recorder.retries.retryCount += UInt64(requests.count)
        write()
    }

    /// Gives up requests that a service may have executed and has forgotten: it cannot
    /// distinguish a second send from a first one.
    private func forgetDoubtful() {
        for request in recovery.takeDoubtful() {
            worker.recorder.failures.count(.forgotten)
            lose(request)
        }
    }

    /// Hello's id: the first of each connection.
    private static let helloID: UInt64 = 1
}
