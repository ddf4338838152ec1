internal import DequeModule
package import FeedConcurrency
package import FeedProto

extension ClientSession {
    /// The connection that ``Step/connect(timeout:)`` asked for is open.
    package mutating func connected() {
        guard case .connecting(let deadline) = state else {
            preconditionFailure("A connection opened that the session did not ask for.")
        }
        state = .connected(deadline: deadline)
    }

    /// Whether Hello was sent on the connection, and its answer did not come yet.
    package var awaitsHello: Bool {
        if case .greeting = state { true } else { false }
    }

    /// The connection ended, or did not open.
    package mutating func disconnected(_ ending: Ending, at now: MonotonicInstant) {
        switch state {
        case .connecting, .connected, .greeting, .open, .draining, .closing:
            endConnection(announcedEnding ?? ending, at: now)
        case .idle, .ended: preconditionFailure("A connection ended that the session had not.")
        case .modifying: preconditionFailure("A connection ended while the session changed.")
        }
    }

    /// Gives up the connection for a cause that the driver found; nothing if there is none.
    package mutating func drop(_ ending: Ending, at now: MonotonicInstant) {
        switch state {
        case .connecting, .connected, .greeting, .open, .draining, .closing:
            hasToAbandon = true
            endConnection(ending, at: now)
        case .idle, .ended: break
        case .modifying: preconditionFailure("A connection was dropped while the session changed.")
        }
    }

    package mutating func received(_ frame: ServerFrame, at now: MonotonicInstant) {
        // Frames behind the cause to drop a connection are part of what was read with it.
        guard !hasToAbandon else { return }
        switch state {
        case .greeting, .open, .draining: break
        case .closing: return
        case .idle, .connecting, .connected, .ended, .modifying:
            preconditionFailure("A frame came before Hello.")
        }
        guard frame.id > 0 else { return receivedConnectionFrame(frame, at: now) }
        guard let token = withExchange({ $0.take(frame.id) }) else {
            return receivedWatchFrame(frame, at: now)
        }
        if case .greeting(let exchange, _) = state, frame.id == Self.helloID {
            return helloAnswered(frame, exchange, at: now)
        }
        if frame.status == nil, let response = frame.response, token != 0 {
            return succeeded(token, response, revision: frame.revision)
        }
        guard let call = calls[token] else { return }
        answered(call, token, frame, at: now)
    }

    /// Lets the calls from now on be those of a session, or of none if the token is empty.
    ///
    /// A connection is the one of the session that its Hello has shown. So the calls on it are awaited,
    /// and the next ones leave over another.
    package mutating func adopt(sessionToken token: [UInt8]) {
        guard hello.sessionToken != token else { return }
        hello.sessionToken = token
        watches.beginAllAnew()
        leaveFormerSession()
    }

    /// Lets the next calls leave over a connection whose Hello shows the session of now.
    mutating func leaveFormerSession() {
        switch state {
        case .open:
            isOfFormerSession = true
            drain(after: .max)
        case .draining: isOfFormerSession = true
        case .greeting: hasStaleHello = true
        case .idle, .connecting, .connected, .closing, .ended: break
        case .modifying: preconditionFailure("A session got a token while it changed.")
        }
    }

    /// The id of a ping of the driver's own; nil if the connection takes none.
    package mutating func takePingID() -> UInt64? {
        switch state {
        case .greeting, .open, .draining: withExchange { $0.takeID() }
        case .idle, .connecting, .connected, .closing, .ended, .modifying: nil
        }
    }

    /// Hello is the first frame of each connection.
    private static var helloID: UInt64 { 1 }

    private mutating func helloAnswered(
        _ frame: ServerFrame,
        _ exchange: Exchange,
        at now: MonotonicInstant
    ) {
        let isStale = hasStaleHello
        hasStaleHello = false
        isOfFormerSession = isStale
        if let status = frame.status {
            if isStale, status.reason == .sessionExpired {
                // The session that the next Hello shows is another one, or none.
                return drop(.lost("The session ended while Hello was on its way."), at: now)
            }
            forgetSession(endedBy: status)
            return drop(.refused(status), at: now)
        }
        guard case .hello(let hello) = frame.response else {
            return drop(.violated("The answer to Hello is of another kind."), at: now)
        }
        maximumInFlightCount = max(1, Int(hello.limits?.maximumInFlightCount ?? 1))
        if instanceID != nil { countReconnect(hello) }
        if instanceID != hello.instanceID { watches.beginAllAnew() }
        instanceID = hello.instanceID
        report(sequences.resume(hello))
        state = .open(exchange)
        defer { if isStale { drain(after: .max) } }
        guard let token = opening else { return }
        opening = nil
        let answer = Answer(response: .hello(hello), revision: frame.revision)
        complete(token, .success(answer))
    }

    private mutating func countReconnect(_ hello: HelloResponse) {
        retries.reconnectCount += 1
        retries.duplicateCount += UInt64(
            calls.count { $0.value.isDoubtful && $0.value.sequence <= hello.lastSequence }
        )
    }

    /// Ends the calls that may have been executed, if the service no longer knows.
    private mutating func report(_ cause: InDoubtCause?) {
        if let cause {
            for (token, call) in calls where call.isDoubtful {
                complete(token, .failure(.inDoubt(cause)))
            }
        }
        guard !sequences.isOffered else { return }
        // What has a sequence still was refused, and is sent without one.
        for (token, _) in calls { calls.change(token) { $0.sequence = 0 } }
        numbered = []
    }

    private mutating func receivedConnectionFrame(_ frame: ServerFrame, at now: MonotonicInstant) {
        if let status = frame.status {
            announcedEnding = .refused(status)
        } else if case .goAway(let goAway) = frame.response {
            drain(after: goAway.lastID)
        }
    }

    /// The service takes no frame after `lastID`: the calls of later frames leave again over the
    /// next connection, the rest are awaited.
    mutating func drain(after lastID: UInt64) {
        switch state {
        case .open(var exchange), .draining(var exchange):
            for token in exchange.takeCalls(after: lastID) {
                guard var call = calls[token] else { continue }
                call.isInFlight = false
                if let status = call.endOfSession?.status {
                    complete(token, .failure(.refused(status.ofCall(effect: call.effect))))
                    continue
                }
                call.attemptCount -= 1
                calls[token] = call
                again.append(token)
            }
            state = .draining(exchange)
            watches.detach()
        case .greeting:
            announcedEnding = .lost("The service said farewell.")
        case .idle, .connecting, .connected, .closing, .ended, .modifying:
            preconditionFailure("A GoAway came before Hello.")
        }
    }

    /// Leaves the connection: its calls are sent again or end, and the next try waits.
    mutating func endConnection(_ ending: Ending, at now: MonotonicInstant) {
        if !settings.reconnects { takesCalls = false }
        isOfFormerSession = false
        switch state {
        case .greeting:
            sequences.lostHello()
            hasStaleHello = false
        case .open, .draining:
            for token in withExchange({ $0.tokens }) { lose(token, ending) }
        case .idle, .connecting, .connected, .closing, .ended, .modifying: break
        }
        watches.loseConnection(ending.isTemporary ? nil : ending.error(effect: .none))
        round += 1
        lastEnding = ending
        announcedEnding = nil
        let jitter = backoff.delay(round: round, using: &randomness)
        state = .idle(earliest: now.advanced(by: max(jitter, ending.advisedDelay.withinADay)))
        if let token = opening, !settings.waitsForService || !ending.isTemporary {
            opening = nil
            complete(token, .failure(ending.error(effect: .none)))
        }
        guard takesCalls else { return endAllCalls(.closed) }
        guard round <= settings.retry.maximumRoundCount else { return endAllCalls(ending) }
        // Another connection would end the same way, so no call waits for one.
        if case .refused = ending, !ending.isTemporary { endAllCalls(ending) }
    }

    /// A call in flight lost its connection before its answer.
    private mutating func lose(_ token: UInt64, _ ending: Ending) {
        guard var call = calls[token] else { return }
        if let status = call.endOfSession?.status {
            return complete(token, .failure(.refused(status.ofCall(effect: call.effect))))
        }
        let isAgain =
            call.isRepeatable && ending.isTemporary && takesCalls
            && call.attemptCount < settings.retry.maximumAttemptCount && retryAllowance.withdraw()
        guard isAgain else { return complete(token, .failure(ending.error(effect: call.effect))) }
        call.isDoubtful = call.sequence > 0
        call.isInFlight = false
        calls[token] = call
        again.append(token)
    }
}
