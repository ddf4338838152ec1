internal import FeedConcurrency

/// The life of a connection: `connecting -> open -> flushing -> lingering -> closed`.
///
/// Each state may also become `closed` directly. Any other change is a fault of the transport, and
/// traps.
package enum ConnectionLife {
    /// A client's connection that the peer has not accepted, or one whose handler is not set.
    case connecting
    /// Bytes go to the handler and come from it.
    case open
    /// Unsent bytes are sent, and input is discarded.
    case flushing(CloseReason)
    /// Everything is sent, and the peer's end of file is awaited.
    case lingering(CloseReason)
    /// The handle is closing or closed.
    case closed(CloseReason)

    package var isOpen: Bool {
        if case .open = self { true } else { false }
    }

    package var isFlushing: Bool {
        if case .flushing = self { true } else { false }
    }

    package var isClosed: Bool {
        if case .closed = self { true } else { false }
    }

    package var closeReason: CloseReason? {
        switch self {
        case .connecting, .open: nil
        case .flushing(let reason), .lingering(let reason), .closed(let reason): reason
        }
    }

    /// The peer has accepted the connection, or the loop has accepted the peer's.
    package mutating func open() {
        guard case .connecting = self else {
            preconditionFailure("A connection opens once: it is \(self).")
        }
        self = .open
    }

    /// The handler writes nothing more.
    package mutating func flush(_ reason: CloseReason) {
        guard case .open = self else {
            preconditionFailure("Only an open connection is flushed: it is \(self).")
        }
        self = .flushing(reason)
    }

    /// Everything is sent.
    package mutating func linger() {
        guard case .flushing(let reason) = self else {
            preconditionFailure("Only a flushed connection lingers: it is \(self).")
        }
        self = .lingering(reason)
    }

    package mutating func close(_ reason: CloseReason) {
        guard !isClosed else { preconditionFailure("A connection closes once: it is \(self).") }
        self = .closed(reason)
    }
}

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

/// The byte counts of what a connection has to send and the kernel has not taken; the bytes are
/// stored elsewhere.
///
/// Bytes are appended and then in flight. One write at a time takes all appended bytes, because the
/// event loop completes one write request an iteration, however small.
package struct WriteQueue {
    /// Bytes that wait for the write before them.
    package private(set) var appendedByteCount = 0
    package private(set) var inFlightByteCount = 0
    /// Whether the high watermark was reached and the low one not yet.
    package private(set) var isAboveHighWatermark = false

    private let highWatermarkByteCount: Int
    private let lowWatermarkByteCount: Int

    package init(_ configuration: TransportConfiguration) {
        highWatermarkByteCount = configuration.highWatermarkByteCount
        lowWatermarkByteCount = configuration.lowWatermarkByteCount
    }

    package var byteCount: Int { appendedByteCount + inFlightByteCount }

    /// Whether all bytes were sent, so that new ones can go out at once.
    package var isEmpty: Bool { byteCount == 0 }

    /// Adds bytes; returns true if a write must start now.
    package mutating func append(_ byteCount: Int) -> Bool {
        appendedByteCount += byteCount
        if self.byteCount >= highWatermarkByteCount { isAboveHighWatermark = true }
        return inFlightByteCount == 0
    }

    package mutating func startWrite() {
        precondition(inFlightByteCount == 0, "A write is in flight already.")
        inFlightByteCount = appendedByteCount
        appendedByteCount = 0
    }

    /// Counts the write in flight as sent; returns true if the next one must start now.
    package mutating func endWrite() -> Bool {
        inFlightByteCount = 0
        if byteCount <= lowWatermarkByteCount { isAboveHighWatermark = false }
        return appendedByteCount > 0
    }

    package mutating func removeAll() {
        appendedByteCount = 0
        inFlightByteCount = 0
        isAboveHighWatermark = false
    }
}

/// The deadlines of one connection, counted in sweeps of its loop.
///
/// A late sweep still counts as one sweep, so a process that was stopped for a minute does not
/// close healthy connections when it resumes. An event between two sweeps counts from the earlier
/// one, and a deadline passes only after more sweeps than its limit: never early, late by at most
/// two intervals.
package struct ConnectionDeadlines {
    /// The sweeps that each wait may take; nil means no limit.
    package struct Limits {
        let idle: Int?
        let partialRead: Int?
        let writeProgress: Int?
        let linger: Int

        package init(_ configuration: TransportConfiguration) {
            let interval = configuration.sweepInterval
            idle = configuration.idleTimeout.map { $0.sweepCount(interval) }
            partialRead = configuration.partialReadTimeout.map { $0.sweepCount(interval) }
            writeProgress = configuration.writeProgressTimeout.map { $0.sweepCount(interval) }
            linger = configuration.lingerTimeout.sweepCount(interval)
        }
    }

    package enum Expiry: Hashable {
        case connect
        case idle
        case partialRead
        case writeProgress
        case linger
    }

    private var heard: Int
    private var connectLimit: Int?
    private var partialSince: Int?
    private var writeSince: Int?
    private var lingerSince: Int?
    private var unsentByteCount = 0

    /// The deadlines of a connection that begins at `sweep`; a client's must open within a limit.
    package init(at sweep: Int, connectLimit: Int? = nil) {
        heard = sweep
        self.connectLimit = connectLimit
    }

    package mutating func opened(at sweep: Int) {
        connectLimit = nil
        heard = sweep
    }

    package mutating func received(at sweep: Int) { heard = sweep }

    /// The handler waits for the rest of a frame; consumed bytes start a new wait.
    package mutating func waitsForRest(at sweep: Int, afterProgress: Bool) {
        if partialSince == nil || afterProgress { partialSince = sweep }
    }

    /// The peer is not read from, so its frame cannot progress: the wait for it starts anew.
    package mutating func pausesReading(at sweep: Int) {
        if partialSince != nil { partialSince = sweep }
    }

    package mutating func waitsForNoRest() { partialSince = nil }

    /// Records the unsent byte count; a changed count is progress, and so is the first one.
    package mutating func observeUnsent(_ byteCount: Int, at sweep: Int) {
        if byteCount == 0 {
            writeSince = nil
        } else if writeSince == nil || byteCount != unsentByteCount {
            writeSince = sweep
        }
        unsentByteCount = byteCount
    }

    /// Whether the peer has taken none of the unsent bytes for a whole interval.
    package func isStalled(at sweep: Int) -> Bool {
        guard let writeSince else { return false }
        return sweep - writeSince >= 2
    }

    /// Everything is sent and the peer's end of file is awaited.
    package mutating func lingers(at sweep: Int) { lingerSince = sweep }

    /// The wait that is over, if one is.
    ///
    /// A peer that is not read from because it does not take its answers is not idle.
    package func expiry(at sweep: Int, limits: Limits) -> Expiry? {
        func isOver(_ start: Int?, _ limit: Int?) -> Bool {
            guard let start, let limit else { return false }
            return sweep - start > limit
        }
        if let connectLimit { return isOver(heard, connectLimit) ? .connect : nil }
        if isOver(writeSince, limits.writeProgress) { return .writeProgress }
        if lingerSince != nil { return isOver(lingerSince, limits.linger) ? .linger : nil }
        if isOver(partialSince, limits.partialRead) { return .partialRead }
        if writeSince == nil, isOver(heard, limits.idle) { return .idle }
        return nil
    }
}

extension Duration {
    func sweepCount(_ interval: Duration) -> Int { max(1, Int((self / interval).rounded(.up))) }

    /// Whole seconds, at least one, as socket options count them.
    var wholeSeconds: Int32 { Int32(clamping: max(1, (millisecondsRoundedUp + 999) / 1_000)) }
}
