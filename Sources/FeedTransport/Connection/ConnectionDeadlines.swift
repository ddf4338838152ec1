internal import FeedConcurrency

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
