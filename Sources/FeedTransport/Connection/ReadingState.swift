/// Whether a connection is read from, what its unconsumed bytes wait for, and whether its input has
/// ended.
///
/// It is a value: each call changes it and says what the connection has to do.
package struct ReadingState {
    /// The reasons not to read; the connection is read from while there is none.
    package struct Pauses: OptionSet {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let unopened = Pauses(rawValue: 1)
        /// The handler asked for it.
        package static let handler = Pauses(rawValue: 2)
        /// Too much is unsent: nothing is read, and the handler does no work.
        package static let backPressure = Pauses(rawValue: 4)
        /// The handler works on bytes that were read, one loop iteration at a time.
        package static let iteration = Pauses(rawValue: 8)
        /// All connections together hold too much, and this one holds more than its share.
        package static let budget = Pauses(rawValue: 16)
        /// No more bytes will arrive, or they do not matter.
        package static let ended = Pauses(rawValue: 32)
        /// The handler asked to be shown nothing.
        package static let suspension = Pauses(rawValue: 64)
        /// The bytes of a TLS handshake wait to be worked on.
        package static let handshake = Pauses(rawValue: 128)
        /// The reasons to show the handler nothing.
        package static let blocking: Pauses = [.backPressure, .suspension]
    }

    /// What the unconsumed bytes wait for.
    package enum Rest {
        /// More bytes from the peer; there may be no unconsumed bytes at all.
        case bytes
        /// The next loop iteration, for which the connection is queued.
        case iteration
        /// The end of all reasons to show the handler nothing: the iteration came before.
        case unblocking
    }

    package enum Input {
        case open
        /// The peer has ended its side. The handler has not been notified.
        case ended
        /// The handler was notified of the end.
        case endDelivered
    }

    package private(set) var pauses: Pauses = .unopened
    package private(set) var rest = Rest.bytes
    package private(set) var input = Input.open

    package init() {}

    package var hasInputEnded: Bool {
        switch input {
        case .open: false
        case .ended, .endDelivered: true
        }
    }

    package var isQueued: Bool {
        switch rest {
        case .iteration: true
        case .bytes, .unblocking: false
        }
    }

    /// Whether the handler is shown nothing, and so does no work.
    package var isBlocked: Bool { !pauses.isDisjoint(with: .blocking) }

    /// Adds a reason not to read; returns whether reading must stop now.
    package mutating func pause(_ reason: Pauses) -> Bool {
        let wasReading = pauses.isEmpty
        pauses.insert(reason)
        return wasReading
    }

    /// Removes reasons not to read; returns whether reading must start now.
    package mutating func resume(_ reasons: Pauses) -> Bool {
        guard !pauses.isEmpty else { return false }
        pauses.subtract(reasons)
        return pauses.isEmpty
    }

    /// The handler wants the next loop iteration; returns whether the connection must be queued.
    package mutating func requestIteration() -> Bool {
        switch rest {
        case .iteration: return false
        case .bytes, .unblocking:
            rest = .iteration
            return true
        }
    }

    /// The handler wants the next iteration, but not before some unsent bytes are sent; returns
    /// whether reading must stop now.
    package mutating func waitForWrites() -> Bool {
        switch rest {
        case .bytes: rest = .unblocking
        // The iteration will come, and then wait for the writes.
        case .iteration, .unblocking: break
        }
        return pause(.backPressure)
    }

    /// The iteration has come; returns whether the handler may have it.
    ///
    /// While the handler is blocked it may not: the iteration is made up for at the end of that.
    package mutating func takeIteration() -> Bool {
        guard case .iteration = rest else {
            preconditionFailure("A loop iteration came that was not requested.")
        }
        rest = isBlocked ? .unblocking : .bytes
        return !isBlocked
    }

    /// What follows the end of a reason to show the handler nothing.
    package enum Unblocking {
        /// Another such reason is left.
        case stay
        /// Nothing is left to show; reading must start now if `startsReading` says so.
        case read(startsReading: Bool)
        /// The unconsumed bytes are shown first; the connection must be queued for the next
        /// iteration if `queues` says so.
        case iterate(queues: Bool)
    }

    /// Removes a reason to show the handler nothing.
    ///
    /// Unconsumed bytes are shown first. Reading resumes once the handler wants no more iterations
    /// for them.
    package mutating func unblock(_ reason: Pauses, hasUnconsumedBytes: Bool) -> Unblocking {
        guard pauses.isDisjoint(with: .blocking.subtracting(reason)) else {
            pauses.subtract(reason)
            return .stay
        }
        switch rest {
        case .bytes where !hasUnconsumedBytes: return .read(startsReading: resume(reason))
        case .bytes, .unblocking, .iteration:
            pauses.subtract(reason)
            pauses.insert(.iteration)
            return .iterate(queues: requestIteration())
        }
    }

    /// The peer has ended its side.
    ///
    /// libuv may report the end again, if the handler has stopped and started reading meanwhile.
    package mutating func endInput() {
        pauses.insert(.ended)
        switch input {
        case .open: input = .ended
        case .ended, .endDelivered: break
        }
    }

    /// Returns whether the handler must be notified of the input's end now: once, after it has seen
    /// all bytes before the end.
    package mutating func deliverInputEnd() -> Bool {
        guard case .ended = input, case .bytes = rest, !isBlocked else { return false }
        input = .endDelivered
        return true
    }

    /// The connection is closed: nothing is read any more.
    package mutating func close() { pauses = .ended }
}
