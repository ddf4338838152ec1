import DequeModule
import FeedConcurrency
import FeedProto

/// How calls come, leave and end.
extension ClientSession {
    /// Takes a call that waits for the first Hello, whose answer it gets.
    package mutating func open(_ call: Call, token: UInt64) {
        precondition(calls.isEmpty && opening == nil, "A session is opened once, before its calls.")
        guard take(call, token) else { return }
        opening = token
    }

    /// Takes a call with a token of its own above 0.
    package mutating func submit(_ call: Call, token: UInt64) {
        guard take(call, token) else { return }
        waiting.append(token)
        forgetGone()
    }

    /// Ends a call that its caller gave up; nothing where it has ended.
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
        opening = nil
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
            if token == opening { opening = nil }
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
