internal import FeedClientTransport
package import FeedConcurrency
internal import FeedNetwork
internal import FeedProto

/// One connection to the service: bytes to frames and back, and the watch over the peer's life.
///
/// It reports to the client's driver until it is dropped, and knows no calls.
final class WireConnection: Transport.Handler {
    /// Unsent bytes above which calls wait in order: the bytes in flight are bounded, too.
    static var maximumUnsentByteCount: Int { 1 << 20 }

    private unowned let driver: SessionDriver
    private var keepAlive: KeepAlive
    /// Nil until it is open and once it is closed.
    private var connection: Transport.Connection?
    private var isDropped = false
    private var lifeTimer: Transport.Timer?
    private var scanner = FrameScanner()
    private var encoder = FrameEncoder()
    private var decoder = MessageDecoder()

    init(_ driver: SessionDriver, _ keepAlive: KeepAlive) {
        self.driver = driver
        self.keepAlive = keepAlive
    }

    var hasRoom: Bool {
        guard let connection, connection.isOpen else { return false }
        return encoder.byteCount < Self.maximumUnsentByteCount - connection.pendingByteCount
    }

    /// Makes the driver proceed in this loop iteration, with other calls that come in it; false
    /// if the connection is not open.
    func requestIteration() -> Bool {
        guard let connection, connection.isOpen else { return false }
        connection.requestIteration()
        return true
    }

    /// Buffers a frame; votes are encoded without protobuf-c.
    func append(_ frame: ClientFrame) throws(FrameError) {
        guard case .castVote(let vote) = frame.request else { return try encoder.append(frame) }
        let frame = VoteFrame(
            id: frame.id,
            vote: vote,
            timeoutMilliseconds: frame.timeoutMilliseconds,
            sequence: frame.sequence,
            minimumRevision: frame.minimumRevision,
            actingUserID: frame.actingUserID
        )
        try encoder.append(frame)
    }

    func flush() {
        guard encoder.byteCount > 0 else { return }
        encoder.withBytes { connection?.write($0) }
        encoder.removeAll()
        keepAlive.sent(at: driver.loop.now)
    }

    /// Closes after what was sent; the end is reported to the driver.
    func close() {
        flush()
        connection?.closeAfterFlush()
    }

    /// Ends the connection; nothing more of it is reported to the driver.
    func drop() {
        isDropped = true
        lifeTimer?.cancel()
        connection?.reset()
        connection = nil
    }

    func connectionOpened(_ connection: Transport.Connection) {
        guard !isDropped else { return connection.reset() }
        self.connection = connection
        keepAlive.sent(at: driver.loop.now)
        keepAlive.heard(at: driver.loop.now)
        startLifeTimer()
        driver.opened()
    }

    private func startLifeTimer() {
        lifeTimer?.cancel()
        // A loop that takes no timer stops, which ends the connection.
        lifeTimer = try? driver.loop.addTimer(every: keepAlive.checkInterval) { [unowned self] in
            checkLife()
        }
    }

    /// Gives the service up after so long a silence while calls wait.
    private func watchClosely(_ silence: Duration) {
        guard keepAlive.silence != silence else { return }
        keepAlive.silence = silence
        startLifeTimer()
    }

    func connection(_ connection: Transport.Connection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do {
            while !isDropped, let body = try scanner.nextBody(in: bytes, at: offset) {
                if let answer = VoteAnswerFrame(scanning: bytes, in: body) {
                    driver.received(ServerFrame(answer))
                } else {
                    receive(try decoder.decodeServerFrame(bytes.extracting(body)))
                }
                offset = body.upperBound
            }
        } catch {
            driver.drop(.violated("\(error)"))
        }
        if offset > 0 { keepAlive.heard(at: driver.loop.now) }
        driver.proceed()
        return ReadProgress(consumedByteCount: connection.isOpen ? offset : bytes.byteCount)
    }

    func connectionEndedInput(_ connection: Transport.Connection) { connection.closeAfterFlush() }

    func connectionClosed(_ connection: Transport.Connection, reason: CloseReason) {
        lifeTimer?.cancel()
        self.connection = nil
        guard !isDropped else { return }
        driver.closed(reason)
    }

    private func receive(_ frame: ServerFrame) {
        if case .hello(let hello) = frame.response {
            adopt(hello.limits)
            if let silence = driver.greeted(by: hello) { watchClosely(silence) }
        }
        driver.received(frame)
    }

    private func adopt(_ limits: Limits?) {
        guard let byteCount = limits.map({ Int($0.maximumFrameByteCount) }),
            Link.frameByteCounts.contains(byteCount), byteCount != scanner.maximumFrameByteCount
        else { return }
        scanner = FrameScanner(maximumFrameByteCount: byteCount)
        encoder = FrameEncoder(maximumFrameByteCount: byteCount)
        decoder = MessageDecoder(maximumFrameByteCount: byteCount)
    }

    /// The frame limit, for the error of a request that exceeds it.
    var maximumFrameByteCount: Int { encoder.maximumFrameByteCount }

    private func checkLife() {
        guard let connection, connection.isOpen else { return }
        switch keepAlive.check(at: MonotonicInstant.now, isAwaited: driver.awaitsAnswers) {
        case .nothing: break
        case .ping: driver.ping()
        case .giveUp: driver.drop(.lost("The service gave no sign of life."))
        }
        driver.proceed()
    }
}

@available(*, unavailable)
extension WireConnection: Sendable {}

/// When to ask the service for a sign of life, and when to give it up; a value without a clock.
package struct KeepAlive {
    package enum Action: Equatable {
        case nothing
        case ping
        case giveUp
    }

    private let interval: Duration
    private let timeout: Duration
    /// How long the service may be silent while calls wait, if another one may answer them.
    ///
    /// It is asked for a sign of life after half of it.
    package var silence: Duration?
    private var lastSent: MonotonicInstant
    private var lastHeard: MonotonicInstant
    private var pinged: MonotonicInstant?
    private var isOverdue = false

    package init(interval: Duration, timeout: Duration, at now: MonotonicInstant) {
        self.interval = interval.withinADay
        self.timeout = timeout.withinADay
        lastSent = now
        lastHeard = now
    }

    /// How often to call ``check(at:)``: a late answer is late by at most half a wait.
    package var checkInterval: Duration {
        let usual = min(interval, timeout)
        return (silence.map { min(usual, $0) } ?? usual) / 4
    }

    package mutating func sent(at now: MonotonicInstant) { lastSent = now }

    /// Something came from the service: it lives.
    package mutating func heard(at now: MonotonicInstant) {
        lastHeard = now
        pinged = nil
        isOverdue = false
    }

    /// Says what to do, if calls are awaited or not; a ping that it asks for counts as sent.
    ///
    /// Silence of either side counts: the service listens for the client, and calls without any
    /// answer for so long hang on a connection that may be dead. A due answer is awaited until the
    /// next check: it may have arrived while this thread was held up, and is read in between.
    package mutating func check(at now: MonotonicInstant, isAwaited: Bool = false) -> Action {
        let patience = isAwaited ? silence.map { $0 / 2 } : nil
        if let pinged {
            guard now.duration(since: pinged) >= patience.map({ min($0, timeout) }) ?? timeout
            else { return .nothing }
            defer { isOverdue = true }
            return isOverdue ? .giveUp : .nothing
        }
        let isSilent = patience.map { now.duration(since: lastHeard) >= $0 } ?? false
        guard isSilent || now.duration(since: min(lastSent, lastHeard)) >= interval
        else { return .nothing }
        pinged = now
        lastSent = now
        return .ping
    }
}
