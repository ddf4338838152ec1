internal import DequeModule
package import FeedConcurrency
package import FeedProto

extension ClientSession {
    /// The connection that ``Step/connect(timeout:_:goingOn:)`` asked for is open.
    ///
    /// Where there are other services, its Hello has to be answered by `limit`.
    package mutating func connected(by limit: MonotonicInstant? = nil) {
        guard case .connecting(let deadline) = state else {
            preconditionFailure("A connection opened that the session did not ask for.")
        }
        state = .connected(deadline: limit.map { min($0, deadline) } ?? deadline)
    }

    /// Whether Hello was sent on the connection, and its answer did not come yet.
    package var awaitsHello: Bool {
        if case .greeting = state { true } else { false }
    }

    /// The connection ended, or did not open.
    package mutating func disconnected(_ ending: Ending, at now: MonotonicInstant) {
        switch state {
        case .connected, .greeting: failTry(announcedEnding ?? ending, at: now)
        case .connecting: endTry(ending, at: now)
        case .open, .draining, .closing: endConnection(announcedEnding ?? ending, at: now)
        case .idle, .ended: preconditionFailure("A connection ended that the session had not.")
        case .modifying: preconditionFailure("A connection ended while the session changed.")
        }
    }

    /// Gives up the connection for a cause that the driver found; nothing if there is none.
    package mutating func drop(_ ending: Ending, at now: MonotonicInstant) {
        switch state {
        case .connecting, .connected, .greeting, .open, .draining, .closing:
            hasToAbandon = true
            turn(to: "")
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

    /// Leaves a session; nothing if the calls are those of another one.
    package mutating func leave(sessionToken token: [UInt8]) {
        if hello.sessionToken == token { adopt(sessionToken: []) }
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
            if status.isForOthers { return leaveService(status, at: now) }
            return drop(.refused(status), at: now)
        }
        guard case .hello(let hello) = frame.response else {
            return drop(.violated("The answer to Hello is of another kind."), at: now)
        }
        leaderOfFollower = hello.role == .follower ? hello.leaderAddress : nil
        if let leader = leaderOfFollower {
            guard settings.reads == .any, !awaitsLeader else {
                return leaveFollower(leader, at: now)
            }
        }
        maximumInFlightCount = max(1, Int(hello.limits?.maximumInFlightCount ?? 1))
        if instanceID != nil { countReconnect(hello) }
        if instanceID != hello.instanceID { watches.beginAllAnew() }
        service = hello
        if !isStale { news.append(.greeted(hello, token: self.hello.sessionToken)) }
        // A follower gives no channel, and the leader says later what it remembers of this one.
        if leaderOfFollower == nil { report(sequences.resume(hello)) }
        failedServiceCount = 0
        state = .open(exchange)
        defer { if isStale { drain(after: .max) } }
        let answer = Answer(response: .hello(hello), revision: frame.revision)
        for token in openings { complete(token, .success(answer)) }
        openings = []
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
            if status.isForOthers { turn(to: status.leader) }
        } else if case .goAway(let goAway) = frame.response {
            if goAway.reason == .notLeader || !goAway.leader.isEmpty { turn(to: goAway.leader) }
            drain(after: goAway.lastID)
        }
    }

    /// The service takes no frame after `lastID`: the calls of later frames leave again over the
    /// next connection, the rest are awaited.
    mutating func drain(after lastID: UInt64) {
        switch state {
        case .open(var exchange), .draining(var exchange):
            var excluded: [UInt64] = []
            for token in exchange.takeCalls(after: lastID) {
                guard var call = calls[token] else { continue }
                call.isInFlight = false
                if let status = call.endOfSession?.status {
                    complete(token, .failure(.refused(status.ofCall(effect: call.effect))))
                    continue
                }
                call.attemptCount -= 1
                calls[token] = call
                excluded.append(token)
            }
            again.prepend(contentsOf: excluded)
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
        // A Hello that was refused has ended no connection.
        if !settings.reconnects, service != nil { takesCalls = false }
        isOfFormerSession = false
        switch state {
        case .greeting:
            sequences.lostHello()
            hasStaleHello = false
        case .open, .draining: lose(withExchange { $0.tokens }, ending)
        case .idle, .connecting, .connected, .closing, .ended, .modifying: break
        }
        watches.loseConnection(ending.isTemporary ? nil : ending.error(effect: .none))
        round += 1
        failedServiceCount = 0
        leaderOfFollower = nil
        lastEnding = ending
        announcedEnding = nil
        let jitter = backoff.delay(round: round, using: &randomness)
        state = .idle(earliest: now.advanced(by: max(jitter, ending.advisedDelay.withinADay)))
        if !settings.waitsForService || !ending.isTemporary {
            for token in openings { complete(token, .failure(ending.error(effect: .none))) }
            openings = []
        }
        guard takesCalls else { return endAllCalls(.closed) }
        guard round <= settings.retry.maximumRoundCount else { return endAllCalls(ending) }
        // Another connection would end the same way, so no call waits for one.
        if case .refused = ending, !ending.isTemporary { endAllCalls(ending) }
    }

    /// Calls in flight lost their connection before their answers: they leave again before those that were
    /// sent behind them, or end.
    private mutating func lose(_ tokens: [UInt64], _ ending: Ending) {
        var leaving: [UInt64] = []
        for token in tokens where isSentAgain(token, ending) { leaving.append(token) }
        again.prepend(contentsOf: leaving)
    }

    /// Whether a call in flight that has lost its connection leaves again; it ends otherwise.
    ///
    /// A change with a sequence does not pay for that. There are no more of them than the service takes in
    /// flight, the waits between connections bound how often they come, and one that ended here would be in
    /// doubt although the service can tell.
    private mutating func isSentAgain(_ token: UInt64, _ ending: Ending) -> Bool {
        guard var call = calls[token] else { return false }
        if let status = call.endOfSession?.status {
            complete(token, .failure(.refused(status.ofCall(effect: call.effect))))
            return false
        }
        let isAgain =
            call.isRepeatable && ending.isTemporary && takesCalls
            && call.attemptCount < settings.retry.maximumAttemptCount
            && (call.sequence > 0 || retryAllowance.withdraw())
        guard isAgain else {
            complete(token, .failure(ending.error(effect: call.effect)))
            return false
        }
        call.isDoubtful = call.sequence > 0
        call.isInFlight = false
        calls[token] = call
        return true
    }
}

/// The services of a cluster, of which one leads.
extension ClientSession {
    /// Lets the next try to connect begin at the leader, as a service has named it, or at the next service if
    /// it has named none.
    mutating func turn(to leader: String) {
        if !leader.isEmpty {
            destination = .leader(leader)
        } else if destination == .same {
            destination = .next
        }
    }

    /// The service of the try of now does not serve the client.
    ///
    /// The next one is asked at once, until each was asked; then the next try waits.
    mutating func failTry(_ ending: Ending, at now: MonotonicInstant) {
        let isDialing = if case .connecting = state { true } else { false }
        turn(to: "")
        guard !isDialing else { return endTry(ending, at: now) }
        failedServiceCount += 1
        guard failedServiceCount < serviceCount, takesCalls, ending.isTemporary,
            ending.advisedDelay == .zero
        else { return endConnection(ending, at: now) }
        if awaitsHello { sequences.lostHello() }
        hasStaleHello = false
        lastEnding = ending
        announcedEnding = nil
        state = .idle(earliest: now)
    }

    /// The driver knows no service that was not asked in the try that goes on.
    package mutating func hasAskedAll(at now: MonotonicInstant) {
        guard case .connecting = state else {
            preconditionFailure("A session that does not connect has no service to ask.")
        }
        endTry(.cannotConnect("No service is left to ask."), at: now)
    }

    /// No further service answers: what one that was reached has said is the end of the try, as it tells
    /// more than that others are gone.
    private mutating func endTry(_ ending: Ending, at now: MonotonicInstant) {
        guard failedServiceCount > 0, case .refused? = lastEnding, let lastEnding else {
            return endConnection(ending, at: now)
        }
        endConnection(lastEnding, at: now)
    }

    /// A follower has answered Hello, and the calls are for the leader.
    private mutating func leaveFollower(_ leader: String, at now: MonotonicInstant) {
        let message =
            leader.isEmpty
            ? "The service is a follower of its cluster, and knows no leader."
            : "The service is a follower of its cluster, and names another leader."
        let status = Status(
            code: .unavailable,
            reason: .notLeader,
            message: message,
            isNotExecuted: true,
            leader: leader
        )
        leaveService(status, at: now)
    }

    /// The answer to Hello leaves the client to another service.
    private mutating func leaveService(_ status: Status, at now: MonotonicInstant) {
        isOfFormerSession = false
        leaderOfFollower = nil
        hasToAbandon = true
        turn(to: status.leader)
        // The answer has come, so no Hello was lost.
        state = .closing
        failTry(.refused(status), at: now)
    }

    /// Whether a call waits that a follower would refuse, or of which only the leader knows what became.
    private var awaitsLeader: Bool {
        calls.contains { $0.value.request.isOfLeader || $0.value.isLeftToLeader }
    }

    /// Whether the next call that leaves is for the leader.
    var isChangeNext: Bool {
        // Those that have ended stay in the queues, and never leave.
        guard
            let token = again.first(where: { calls.contains($0) })
                ?? waiting.first(where: { calls.contains($0) })
        else { return false }
        return calls.part(of: token, \.request.isOfLeader) ?? false
    }
}

extension HelloResponse {
    /// The address of the leader, as far as the service knows it; empty if it does not.
    package var leaderAddress: String {
        if let leader = channelStatus?.leader, !leader.isEmpty { return leader }
        return members.first { $0.role == .leader }?.address ?? ""
    }
}

extension Request {
    /// Whether the leader of a cluster alone takes the call.
    ///
    /// What operates one service is for each of them.
    fileprivate var isOfLeader: Bool {
        switch self {
        case .backup, .drain, .setLogLevel: false
        default: mayHaveEffect
        }
    }
}
