import FeedProto
import FeedTransport

/// How a connection comes back, in a run with retries.
///
/// Where it is lost, or an answer is overdue, what it had in flight is put back and leaves again, with
/// the sequences it had, over the next connection that the service greets. What the service refuses
/// for now is put back too and leaves again after a pause.
extension ClientConnection {
    /// Puts back what the lost connection had in flight, and waits before the next try.
    func recover() {
        let answered = headID > Self.greetingID ? headID - Self.greetingID - 1 : 0
        let flights = (headID..<nextID).lazy.map { [worker, index] in worker.flights[index, $0] }
        recovery.lose(flights.filter { $0.operation != nil }, answeredCount: answered)
        headID = Self.greetingID
        (nextID, unwrittenID, unexpiredID) = (headID, headID, headID)
        window = PipelineWindow(depth: window.depth, mode: window.mode)
        isRefused = false
        guard recovery.round <= worker.setup.configuration.retryLimit else { return giveUp() }
        stage = .pausing
        recovery.resumeNanoseconds = EventLoop.clock.nanoseconds + worker.backoff(recovery.round)
    }

    /// Goes on after a greeting, as far as the service knows what went before.
    func resume(_ hello: HelloResponse) {
        guard let identity = worker.setup.identity, hello.instanceID == identity.instanceID,
            hello.capabilities.contains(.exactlyOnce)
        else {
            worker.recorder.failures.count(.stateGone)
            isBroken = true
            connection?.reset()
            return
        }
        if recovery.isKnown, !hello.isClientKnown { forgetDoubtful() }
        recovery.isKnown = true
        worker.recorder.retries.duplicateCount += UInt64(
            recovery.duplicateCount(through: hello.lastSequence)
        )
        if isDecided { worker.recorder.retries.reconnectCount += 1 }
        stage = recovery.isSettled ? .open : .recovering
        recovery.resumeNanoseconds = 0
        decide(isOpen: true)
    }

    /// Sends again what is due to be, and takes new requests once all of that is answered.
    func proceed(at now: UInt64) {
        switch stage {
        case .recovering:
            if !recovery.backlog.isEmpty, now >= recovery.resumeNanoseconds { sendAgain(at: now) }
            if recovery.isSettled { stage = .open }
        case .leaving:
            if !isWaiting || now >= leaveNanoseconds { connection?.reset() }
        case .greeting:
            if isRefused { connection?.reset() }
        case .closed, .pausing, .open: break
        }
    }

    /// Puts a request back that the service refused for now; false where its refusal is final.
    func postpone(_ flight: Flight, _ status: Status) -> Bool {
        guard worker.isRetrying, status.isRetryable,
            recovery.postpone(flight, limit: worker.setup.configuration.retryLimit)
        else { return false }
        worker.recorder.failures.countServerError("\(status.code)/\(status.reason)")
        let advised = UInt64(status.retryAfterMilliseconds) * 1_000_000
        let pause = max(advised, worker.backoff(recovery.round))
        let resume = EventLoop.clock.nanoseconds + pause
        recovery.resumeNanoseconds = max(recovery.resumeNanoseconds, resume)
        if status.reason == .draining {
            leave(within: 0)
        } else if stage == .open {
            stage = .recovering
        }
        return true
    }

    /// Takes no more requests on this connection, which the service is about to close.
    func leave(within milliseconds: UInt32) {
        guard worker.isRetrying, stage == .open || stage == .recovering else { return }
        stage = .leaving
        let patience = max(UInt64(milliseconds) * 1_000_000, worker.timeoutNanoseconds)
        leaveNanoseconds = EventLoop.clock.nanoseconds + patience
    }

    /// Gives up a request that waits to be sent again.
    func abandonBacklog() {
        for flight in recovery.takeBacklog() {
            if flight.marks.contains(.doubtful) || flight.sequence == 0 {
                lose(flight)
            } else {
                // Refused each time it was sent.
                worker.outstandingCount -= 1
                worker.recorder.outcomes.error += UInt64(worker.weight(flight))
                worker.fail(flight)
                worker.release(flight)
            }
        }
    }

    /// Gives up a request of which nobody knows what became of it.
    func lose(_ flight: Flight) {
        worker.outstandingCount -= 1
        worker.recorder.outcomes.lost += UInt64(worker.weight(flight))
        worker.forget(flight, client: number)
        worker.release(flight)
    }

    private func sendAgain(at now: UInt64) {
        let flights = recovery.takeBacklog()
        for flight in flights {
            worker.flights[index, nextID] = flight
            encode(flight, id: nextID)
            nextID &+= 1
        }
        unwrittenID = nextID
        window.send(flights.count)
        recovery.resent(flights.count, at: now)
        worker.recorder.retries.retryCount += UInt64(flights.count)
        write()
    }

    /// Gives up what may have been executed by a service that has forgotten it: it cannot tell a
    /// second send from a first one.
    private func forgetDoubtful() {
        for flight in recovery.takeDoubtful() {
            worker.recorder.failures.count(.forgotten)
            lose(flight)
        }
    }

    /// The greeting's id: the first of each connection.
    private static let greetingID: UInt64 = 1
}

extension Status {
    /// Whether the same request may do better later.
    var isRetryable: Bool {
        guard isNotExecuted else { return false }
        return code == .unavailable
            || code == .resourceExhausted && (reason == .overloaded || reason == .readOnly)
    }
}
