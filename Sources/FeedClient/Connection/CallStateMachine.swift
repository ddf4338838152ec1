import FeedProto
package import FeedTransport

/// Which calls of a connection wait for room, which are in flight, and how each ends.
///
/// The value has no socket and no clock, and does not know who waits for an answer.
///
/// `connecting -> open -> closing or draining -> ended`. Every submitted call ends once: answered,
/// or in the failures that an input returns. A call that ended without an answer stays in flight
/// for the window, as it does for the service, until its answer arrives.
package struct CallStateMachine<Caller: Sendable> {
    private enum State {
        case connecting
        case open
        /// Takes no calls; sends those it has.
        case closing
        /// Takes no calls and sends none; waits for answers.
        case draining(Ending)
        case ended(Ending)
    }

    /// The most calls in flight; one, until the service has announced how many it takes.
    package var maximumInFlightCount = 1

    private var state = State.connecting
    private var calls: [UInt64: Call] = [:]
    private var waiting = CallQueue()
    /// The call of each frame without an answer; 0 is none, as for a ping of our own.
    private var inFlight: [UInt64: UInt64] = [:]
    private var lastID: UInt64 = 0

    /// A connection that is not open yet.
    package init() {}

    /// How many numbers wait for room, including those of calls that ended meanwhile.
    package var waitingCount: Int { waiting.count }

    /// How many frames wait for their answer.
    package var inFlightCount: Int { inFlight.count }

    /// Whether nothing more will happen on the connection, so that it can be closed.
    package var isFinished: Bool {
        switch state {
        case .connecting, .open: false
        case .closing, .draining: calls.isEmpty
        case .ended: true
        }
    }

    /// Takes a call with a number of its own above 0; returns the failure, if it cannot.
    package mutating func submit(_ call: Call, token: UInt64) -> Failure? {
        switch state {
        case .connecting, .open:
            calls[token] = call
            waiting.append(token)
            forgetGone()
            return nil
        case .closing:
            return Failure(caller: call.caller, error: .closed)
        case .draining(let ending), .ended(let ending):
            return Failure(caller: call.caller, error: ending.error(effect: .none))
        }
    }

    /// The connection is open.
    package mutating func opened() {
        guard case .connecting = state else { return }
        state = .open
    }

    /// The next call that leaves, if there is room; O(1).
    ///
    /// A call whose time has passed never leaves; ``expire(at:)`` ends it.
    package mutating func depart(at now: MonotonicInstant) -> Departure? {
        switch state {
        case .open, .closing: break
        case .connecting, .draining, .ended: return nil
        }
        while inFlight.count < maximumInFlightCount, let token = waiting.popFirst() {
            guard var call = calls[token], call.deadline > now else { continue }
            call.isSent = true
            calls[token] = call
            return Departure(id: takeID(for: token), call: call)
        }
        return nil
    }

    /// The id of a frame that belongs to no call: a ping of our own.
    package mutating func departOwn() -> UInt64 { takeID(for: 0) }

    /// A call that left could not be written as a frame, so it did not leave.
    package mutating func undoDeparture(_ id: UInt64) {
        guard let token = inFlight.removeValue(forKey: id) else { return }
        calls[token] = nil
    }

    /// An answer came; O(1).
    package mutating func arrived(_ id: UInt64) -> Arrival {
        guard let token = inFlight.removeValue(forKey: id) else { return .unasked }
        guard let call = calls.removeValue(forKey: token) else { return .late }
        return .answer(call)
    }

    /// Drops the numbers of calls that ended while they waited, once these are the majority; O(1),
    /// amortised.
    ///
    /// Otherwise they would pile up under a service that answers nothing.
    private mutating func forgetGone() {
        guard waiting.count > 64, waiting.count > 2 * calls.count else { return }
        waiting.removeAll { calls[$0] == nil }
    }

    private mutating func takeID(for token: UInt64) -> UInt64 {
        lastID += 1
        inFlight[lastID] = token
        return lastID
    }
}

extension CallStateMachine {
    /// The earliest time at which ``expire(at:)`` ends a call; O(calls).
    package var earliestDeadline: MonotonicInstant? { calls.values.lazy.map(\.deadline).min() }

    /// Ends the calls whose time has passed; O(calls).
    package mutating func expire(at now: MonotonicInstant) -> [Failure] {
        let expired = calls.filter { $0.value.deadline <= now }
        return expired.map { token, call in
            calls[token] = nil
            return Failure(caller: call.caller, error: expiry(of: call))
        }
    }

    /// Ends one call that its caller gave up; nil where it has ended already; O(1).
    package mutating func cancel(_ token: UInt64) -> Failure? {
        guard let call = calls.removeValue(forKey: token) else { return nil }
        return Failure(caller: call.caller, error: .cancelled(effect: call.effect))
    }

    /// The service takes nothing after `lastID`: the calls that it will not execute end, the rest
    /// are awaited.
    package mutating func drain(lastID: UInt64, _ ending: Ending) -> [Failure] {
        switch state {
        case .ended: return []
        case .connecting, .open, .closing, .draining: break
        }
        state = .draining(ending)
        waiting.removeAll()
        let awaited = Set(inFlight.lazy.filter { $0.key <= lastID }.map(\.value))
        inFlight = inFlight.filter { $0.key <= lastID }
        let unexecuted = calls.filter { !awaited.contains($0.key) }
        return unexecuted.map { token, call in
            calls[token] = nil
            return Failure(caller: call.caller, error: ending.error(effect: .none))
        }
    }

    /// Takes no more calls; an open connection finishes those it has.
    package mutating func close() -> [Failure] {
        switch state {
        case .connecting: return end(.closed)
        case .open: state = .closing
        case .closing, .draining, .ended: break
        }
        return []
    }

    /// The connection is gone: everything ends.
    package mutating func end(_ ending: Ending) -> [Failure] {
        switch state {
        case .ended: return []
        // Later callers get the farewell, which is why the connection is gone.
        case .draining(let farewell): state = .ended(farewell)
        case .connecting, .open, .closing: state = .ended(ending)
        }
        let unanswered = calls.values
        calls = [:]
        waiting.removeAll()
        inFlight = [:]
        return unanswered.map { call in
            Failure(caller: call.caller, error: ending.error(effect: call.effect))
        }
    }

    private func expiry(of call: Call) -> FeedClientError {
        if case .connecting = state {
            return .cannotConnect(reason: "It did not open within \(call.timeout).")
        }
        return .deadlinePassed(timeout: call.timeout, effect: call.effect)
    }
}
