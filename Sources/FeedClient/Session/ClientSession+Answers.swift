import FeedConcurrency
import FeedProto

/// What an answer means for its call: its end, or another try.
extension ClientSession {
    /// The service executed a call; nothing where the call has ended before.
    mutating func succeeded(_ token: UInt64, _ response: Response, revision: UInt64) {
        guard let call = calls.removeValue(for: token) else { return }
        round = 0
        noteSession(after: call.request, response)
        completions.append(
            (call.caller, .success(Answer(response: response, revision: revision)))
        )
    }

    /// The service refused a call, or its answer is none that the client knows.
    mutating func answered(
        _ call: Call,
        _ token: UInt64,
        _ frame: ServerFrame,
        at now: MonotonicInstant
    ) {
        if let status = frame.status { return refused(call, token, status, at: now) }
        round = 0
        complete(token, .failure(.wrongAnswer(to: call.request)))
    }

    /// Keeps the session of a client that has signed in for the Hello of its next connection.
    private mutating func noteSession(after request: Request, _ response: Response) {
        switch (request, response) {
        case (.signUp, .session(let session)), (.signIn, .session(let session)):
            // Without a token of the right length there is no session that a Hello could show.
            hello.sessionToken = session.secret?.bytes ?? []
            watches.beginAllAnew()
        case (.signOut, _):
            hello.sessionToken = []
            watches.beginAllAnew()
        default: break
        }
    }

    /// Forgets a session that the service no longer knows: the client is nobody's from now on.
    mutating func forgetSession(endedBy status: Status) {
        guard status.reason == .sessionExpired, !isOfFormerSession, !hello.sessionToken.isEmpty
        else { return }
        let ended = EndedSession(token: hello.sessionToken, status: status)
        endedSession = ended
        forget(ended)
    }

    /// Forgets a session that has ended on this connection, or on another one of the client.
    ///
    /// Calls that left as the user's do not leave again as the device's. Those in flight wait for their
    /// answers on this connection. It stays one of the session, and is refused all else, so the next calls
    /// leave over another.
    package mutating func forget(_ ended: EndedSession) {
        guard hello.sessionToken == ended.token else { return }
        let status = ended.status
        hello.sessionToken = []
        for (token, call) in calls where call.attemptCount > 0 {
            if call.isInFlight {
                calls.change(token) { $0.endOfSession = EndOfSession(status) }
            } else {
                complete(token, .failure(.refused(status.ofCall(effect: call.effect))))
            }
        }
        watches.endAll(.refused(status))
        leaveFormerSession()
    }

    private mutating func refused(
        _ call: Call,
        _ token: UInt64,
        _ status: Status,
        at now: MonotonicInstant
    ) {
        forgetSession(endedBy: status)
        if status.isTemporary {
            let isLeaving = status.reason == .draining
            if tryAgain(call, token, status, at: now) {
                // The service takes nothing more on this connection.
                if isLeaving { drain(after: .max) }
                return
            }
        } else {
            round = 0
        }
        complete(token, .failure(call.error(status)))
    }

    /// Sends a refused call again after a wait; false where its tries, the retry allowance or its
    /// time are used up.
    private mutating func tryAgain(
        _ refused: Call,
        _ token: UInt64,
        _ status: Status,
        at now: MonotonicInstant
    ) -> Bool {
        guard refused.endOfSession == nil,
            refused.attemptCount < settings.retry.maximumAttemptCount
        else { return false }
        let jitter = backoff.delay(round: refused.attemptCount, using: &randomness)
        let due = now.advanced(by: status.advisedDelay + jitter)
        guard due < refused.deadline, retryAllowance.withdraw() else { return false }
        var call = refused
        call.isInFlight = false
        calls[token] = call
        delayed.append((due, token))
        note(due)
        return true
    }
}

extension ClientSession.Call {
    /// The error of a call that the service refused for good.
    ///
    /// Some refusals come before the service looks at what it remembers of the sequence. They say
    /// nothing of an earlier frame of the call.
    fileprivate func error(_ status: Status) -> FeedClientError {
        let isAboutThisFrame = isDoubtful && (status.isTemporary || !status.looksAtSequence)
        let effect: CallEffect =
            request.mayHaveEffect && (isAboutThisFrame || !status.isNotExecuted) ? .unknown : .none
        if status.code == .deadlineExceeded {
            return .deadlinePassed(timeout: timeout, effect: effect)
        }
        guard sequence > 0 else { return .refused(status) }
        switch status.reason {
        case .sequenceExpired: return .inDoubt(.sequenceExpired)
        case .sequenceReused: return .inDoubt(.sequenceReused)
        case .channelFenced where isDoubtful: return .inDoubt(.channelTaken)
        default: return .refused(isAboutThisFrame ? status.ofCall(effect: effect) : status)
        }
    }
}

extension Status {
    /// Whether the service found the cause behind its look at what it remembers of the sequence.
    fileprivate var looksAtSequence: Bool {
        guard code != .deadlineExceeded else { return false }
        return switch reason {
        case .channelFenced, .sessionExpired, .identityRequired, .serviceOnly, .roleDenied,
            .instanceChanged:
            false
        default: true
        }
    }
}
