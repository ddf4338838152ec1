internal import DequeModule
internal import FeedConcurrency
package import FeedProto

extension ClientSession {
    /// Takes a call that waits until a connection is open, and gets the answer to its Hello.
    package mutating func open(_ call: Call, token: UInt64) {
        guard take(call, token) else { return }
        if case .open = state, let service {
            complete(token, .success(Answer(response: .hello(service), revision: 0)))
        } else {
            openings.append(token)
        }
    }

    /// Takes a call with a token of its own above 0.
    package mutating func submit(_ call: Call, token: UInt64) {
        guard take(call, token) else { return }
        waiting.append(token)
        forgetGone()
    }

    /// Ends a call that its caller gave up; nothing if it has ended.
    package mutating func cancel(_ token: UInt64) {
        guard let call = calls[token] else { return }
        complete(token, .failure(.cancelled(effect: call.effect)))
    }

    /// A call that left does not fit into a frame, so it did not leave.
    package mutating func couldNotSend(_ id: UInt64, _ error: FeedClientError) {
        guard let token = withExchange({ $0.take(id) }) else { return }
        complete(token, .failure(error))
    }

    /// Takes no more calls and opens no more connections; an open connection finishes its calls.
    package mutating func close() {
        takesCalls = false
        watches.endAll(.closed)
        switch state {
        case .open, .draining, .closing, .ended: break
        case .idle: endAllCalls(.closed)
        case .connecting, .connected, .greeting:
            endAllCalls(.closed)
            hasToAbandon = true
            state = .ended
        case .modifying: preconditionFailure("A session was closed while it changed.")
        }
    }

    /// Ends at once with all calls, since the driver can do nothing more.
    package mutating func stop() {
        takesCalls = false
        endAllCalls(.closed)
        state = .ended
    }

    /// The next call that leaves, if there is room.
    ///
    /// A call whose time has passed never leaves; ``passTime(to:)`` ends it.
    mutating func depart(at now: MonotonicInstant) -> Departure? {
        guard inFlightCount < maximumInFlightCount, let token = nextCall(at: now) else {
            return nil
        }
        if sequences.isOffered, calls.part(of: token, \.wantsSequence) == true {
            let sequence = sequences.take()
            calls.change(token) { $0.sequence = sequence }
            numbered.append(token)
        }
        let isFirst = calls.part(of: token) { $0.attemptCount == 0 }
        if isFirst == true { retryAllowance.deposit() } else { retries.retryCount += 1 }
        calls.change(token) { call in
            call.attemptCount += 1
            call.isInFlight = true
        }
        guard let call = calls[token] else { preconditionFailure("A call that is next is open.") }
        return Departure(id: withExchange { $0.takeID(for: token) }, call: call)
    }

    private mutating func nextCall(at now: MonotonicInstant) -> UInt64? {
        while let token = again.popFirst() {
            if hasTime(token, at: now) { return token }
        }
        while let token = waiting.first {
            if hasTime(token, at: now) {
                if sequences.isOffered, calls.part(of: token, \.request.takesSequence) == true,
                    !hasRoomForSequence
                {
                    return nil
                }
                _ = waiting.popFirst()
                return token
            }
            _ = waiting.popFirst()
        }
        return nil
    }

    /// Whether a call has not ended, and its time is not over.
    private func hasTime(_ token: UInt64, at now: MonotonicInstant) -> Bool {
        calls.part(of: token) { $0.deadline > now } ?? false
    }

    /// Whether another sequence is near enough to the oldest one without an answer.
    private var hasRoomForSequence: Bool {
        mutating get {
            while let token = numbered.first, !calls.contains(token) { _ = numbered.popFirst() }
            return sequences.hasRoom(oldest: numbered.first.flatMap(sequence))
        }
    }

    private func sequence(of token: UInt64) -> UInt64? { calls.part(of: token) { $0.sequence } }

    private mutating func take(_ call: Call, _ token: UInt64) -> Bool {
        guard takesCalls else {
            completions.append((call.caller, .failure(.closed)))
            return false
        }
        calls[token] = call
        note(call.deadline)
        return true
    }

    /// Drops the tokens of calls that ended while they waited, once these are the majority; O(1),
    /// amortised.
    ///
    /// Otherwise they would pile up under a service that answers nothing.
    private mutating func forgetGone() {
        guard waiting.count > 64, waiting.count > 2 * calls.count else { return }
        waiting.removeAll { calls[$0] == nil }
    }

    mutating func complete(_ token: UInt64, _ result: Result<Answer, FeedClientError>) {
        guard let call = calls.removeValue(for: token) else { return }
        completions.append((call.caller, result))
    }

    mutating func endAllCalls(_ ending: Ending) {
        openings = []
        for (token, call) in calls { complete(token, .failure(ending.error(effect: call.effect))) }
        watches.endAll(ending.error(effect: .none))
    }
}

/// Deadlines, and calls that wait before they leave again.
extension ClientSession {
    /// Ends the calls whose time has passed and releases those that waited long enough; O(calls).
    mutating func passTime(to now: MonotonicInstant) {
        for (token, call) in calls where call.deadline <= now {
            complete(token, .failure(expiry(of: call)))
        }
        delayed.removeAll { calls[$0.token] == nil }
        for (_, token) in delayed.filter({ $0.due <= now }).sorted(by: { $0.due < $1.due }) {
            again.append(token)
        }
        delayed.removeAll { $0.due <= now }
        wake = calls.lazy.map(\.value.deadline).min()
        if let due = delayed.lazy.map(\.due).min() { note(due) }
        watches.passTime(to: now)
        if let due = watches.nextDue { note(due) }
    }

    private func expiry(of call: Call) -> FeedClientError {
        guard call.effect == .none else {
            return .deadlinePassed(timeout: call.timeout, effect: .unknown)
        }
        switch state {
        case .idle, .connecting, .connected:
            // What prevents the connection helps more than the time that it took.
            switch lastEnding {
            case .cannotConnect, .unknownHost, .refused:
                return lastEnding?.error(effect: .none) ?? .closed
            case .lost, .violated, .closed, nil:
                return .cannotConnect(reason: "It did not open within \(call.timeout).")
            }
        case .greeting, .open, .draining, .closing, .ended, .modifying:
            return .deadlinePassed(timeout: call.timeout, effect: .none)
        }
    }
}

/// What an answer means for its call: its end, or another try.
extension ClientSession {
    /// The service executed a call; nothing if the call has ended before.
    mutating func succeeded(_ token: UInt64, _ response: Response, revision: UInt64) {
        guard let call = calls.removeValue(for: token) else { return }
        round = 0
        noteSession(after: call.request, response)
        completions.append((call.caller, .success(Answer(response: response, revision: revision))))
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
        case (.signUp, .session(let session)), (.signIn, .session(let session)),
            (.changePassword, .session(let session)), (.resetPassword, .session(let session)):
            // Without a token of the right length there is no session that a Hello could show.
            hello.sessionToken = session.secret?.bytes ?? []
            watches.beginAllAnew()
            news.append(.signedIn(session))
        case (.signOut, _), (.deleteAccount, _):
            hello.sessionToken = []
            watches.beginAllAnew()
            news.append(.signedOut)
        default: break
        }
    }

    /// Forgets a session that the service no longer knows: the client is nobody's from now on.
    mutating func forgetSession(endedBy status: Status) {
        guard status.reason == .sessionExpired, !isOfFormerSession, !hello.sessionToken.isEmpty
        else { return }
        let ended = EndedSession(token: hello.sessionToken, status: status)
        news.append(.ended(ended))
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
            let isAgain = tryAgain(call, token, status, at: now)
            if status.isForOthers {
                turn(to: status.leader)
                drain(after: .max)
            } else if isAgain, status.reason == .draining {
                // The service takes nothing more on this connection.
                drain(after: .max)
            }
            if isAgain { return }
        } else {
            round = 0
        }
        complete(token, .failure(call.error(status)))
    }

    /// Sends a refused call again after a wait; false if its tries, the retry allowance or its
    /// time are used up.
    ///
    /// A change with a sequence goes to the leader of its cluster for nothing, as after a lost connection. A
    /// sign-out leaves once: a sign-in may go past it meanwhile, whose session it would end.
    private mutating func tryAgain(
        _ refused: Call,
        _ token: UInt64,
        _ status: Status,
        at now: MonotonicInstant
    ) -> Bool {
        if case .signOut = refused.request { return false }
        guard refused.endOfSession == nil,
            refused.attemptCount < settings.retry.maximumAttemptCount
        else { return false }
        let jitter = backoff.delay(round: refused.attemptCount, using: &randomness)
        let due = now.advanced(by: status.advisedDelay + jitter)
        let isFree = refused.sequence > 0 && status.isForOthers
        guard due < refused.deadline, isFree || retryAllowance.withdraw() else { return false }
        var call = refused
        call.isInFlight = false
        if status.reason == .notLeader { call.isLeftToLeader = true }
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

/// Watches: calls with many answers, which outlive their connection.
extension ClientSession {
    package var watchCount: Int { watches.count }

    /// Begins a watch with a token of its own; it needs no call to open a connection.
    package mutating func watch(
        _ token: UInt64,
        _ request: WatchPostsRequest,
        actingUserID: UserID
    ) {
        watches.begin(token, request, actingUserID: actingUserID)
        if !takesCalls { watches.end(token, .closed) }
    }

    /// Ends a watch that its reader gave up; nothing if it has ended.
    package mutating func cancelWatch(_ token: UInt64) { watches.cancel(token) }

    /// A watch whose request left does not fit into a frame, so it did not leave, and ends.
    package mutating func couldNotBegin(_ id: UInt64, _ error: FeedClientError) {
        watches.couldNotBegin(id, error)
    }

    mutating func nextWatchFrame() -> WatchTable.Step? {
        guard watches.hasFrames else { return nil }
        let id = withExchange { $0.takeIDWithoutAnswer() }
        return watches.nextFrame(id)
    }

    /// A frame came that answers no call: it is of a watch, or breaks the protocol.
    mutating func receivedWatchFrame(_ frame: ServerFrame, at now: MonotonicInstant) {
        switch watches.owner(of: frame.id) {
        case .nobody: drop(.violated("Answer \(frame.id) is to no call in flight."), at: now)
        case .formerWatch: if !frame.hasMore { watches.forgetFormer(frame.id) }
        case .watch(let token):
            if let status = frame.status { return watchEnded(token, status, at: now) }
            guard case .watchPosts(let event) = frame.response, frame.hasMore else {
                return drop(.violated("Answer \(frame.id) is no event of a watch."), at: now)
            }
            round = 0
            watches.apply(event, revision: frame.revision, to: token)
        }
    }

    /// The service has ended a watch, or has refused to begin it.
    private mutating func watchEnded(_ token: UInt64, _ status: Status, at now: MonotonicInstant) {
        if status.reason == .draining || status.isForOthers {
            watches.beginAgain(token)
            if status.isForOthers { turn(to: status.leader) }
            // The service takes nothing more on this connection.
            return drain(after: .max)
        }
        if status.reason == .sessionExpired, isChangingSession { return watches.beginAgain(token) }
        guard status.isTemporaryForWatches else {
            round = 0
            watches.remove(token)
            watches.end(token, .refused(status))
            return forgetSession(endedBy: status)
        }
        let round = watches.refusalCount(of: token) + 1
        let jitter = backoff.delay(round: round, using: &randomness)
        let due = now.advanced(by: status.advisedDelay + jitter)
        watches.delay(token, until: due)
        note(due)
    }

    /// Whether a call is in flight that ends the session of the connection or begins another one.
    private var isChangingSession: Bool {
        calls.contains { _, call in
            switch call.request {
            case .signUp, .signIn, .signOut, .changePassword, .resetPassword, .deleteAccount:
                call.isInFlight
            default: false
            }
        }
    }
}

extension Status {
    /// Whether a watch may begin a little later.
    ///
    /// A watch has no effect, so what the status says of one does not matter.
    fileprivate var isTemporaryForWatches: Bool {
        var status = self
        status.isNotExecuted = true
        // A connection that is full stays so, and a service that is full says when to come back.
        return status.isTemporary || reason == .tooManyWatches && retryAfterMilliseconds > 0
    }
}
