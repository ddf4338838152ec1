import FeedProto
import FeedTransport

/// One thread of the load: its connections, its plan, its numbers. Bound to its loop.
///
/// A closed loop is driven by answers: each makes room for the next request on its connection. An
/// open loop is driven by the plan: what is due goes to connections with room in turn, and where none
/// has room it waits, late by the plan, which is what the response time then shows.
final class Worker {
    let setup: WorkerSetup
    let loop: EventLoop
    let recorder: Recorder
    let flights: FlightSlab
    let tallies: TallySlab
    let scores: ScoreMemory
    let isOpenLoop: Bool
    let timeoutNanoseconds: UInt64
    var output = FrameBuffer(capacity: 1 << 16)
    var encoder = FrameEncoder()
    var decoder = MessageDecoder()
    var ledger = WorkerLedger()

    /// The phases, once the load has begun.
    var phases = Phases(start: .max / 4, warmup: .zero, duration: nil)
    /// Whether requests may leave.
    private(set) var isSending = false
    /// Requests in flight whose time has not run out.
    var outstandingCount = 0

    private(set) var clients: [ClientConnection] = []
    private var nextClient = 0
    private var undecidedCount = 0
    private var openedCount = 0
    private var openCount = 0
    var lostConnectionCount = 0
    private var remainingRequests: UInt64
    private var drainDeadline = UInt64.max
    private var isFinished = false
    private var sweep: LoopTimer?
    var pacing: Pacing?
    var meter: LoopMeter

    /// A thread's load; nothing happens before `connect()`.
    init(_ setup: WorkerSetup, on loop: EventLoop) {
        self.setup = setup
        self.loop = loop
        let configuration = setup.configuration
        isOpenLoop = configuration.isOpenLoop
        recorder = Recorder(isOpenLoop: isOpenLoop)
        flights = FlightSlab(clientCount: setup.clientCount, depth: configuration.pipelineDepth)
        tallies = TallySlab(count: setup.postIDs.count)
        scores = ScoreMemory(clientCount: setup.clientCount)
        timeoutNanoseconds = configuration.timeout.nanoseconds
        remainingRequests = setup.requestCount ?? .max
        meter = LoopMeter(loop)
    }

    /// Opens the connections, a limited number at a time so that no backlog overflows.
    func connect() throws(TransportError) {
        clients = (0..<setup.clientCount).map { ClientConnection(self, index: $0) }
        undecidedCount = clients.count
        sweep = try loop.addTimer(every: Self.sweepInterval) { [unowned self] in sweepDeadlines() }
        for _ in 0..<Self.maximumConnectingCount { connectNext() }
    }

    /// Starts the load at the instant the phases name.
    func begin(_ phases: Phases) {
        self.phases = phases
        isSending = true
        meter.schedule(phases, loop) { [unowned self] in closeInterval($0) }
        if isOpenLoop {
            startPacing()
        } else {
            for client in clients where client.isOpen { client.fill() }
        }
        finishIfDone()
    }

    /// Sends nothing more and waits for the answers in flight.
    func stopSending() {
        guard isSending else { return }
        isSending = false
        let patience = min(RunConfiguration.cooldown.nanoseconds, timeoutNanoseconds)
        drainDeadline = EventLoop.clock.nanoseconds + patience
        finishIfDone()
    }

    /// Takes note of how a connection attempt ended.
    func connectionDecided(isOpen: Bool) {
        undecidedCount -= 1
        if isOpen {
            openedCount += 1
            openCount += 1
        }
        connectNext()
        guard undecidedCount == 0 else { return }
        setup.report(.connected(openedCount: openedCount, failures: recorder.failures))
    }

    /// Takes note of the end of an open connection.
    func connectionLost() {
        openCount -= 1
        if !isFinished { lostConnectionCount += 1 }
        finishIfDone()
    }

    /// How many of `wanted` requests may leave at `instant`; the last one ends the sending.
    @inline(__always)
    func admit(_ wanted: Int, at instant: UInt64) -> Int {
        guard isSending else { return 0 }
        if instant >= phases.measureUntilNanoseconds {
            stopSending()
            return 0
        }
        guard remainingRequests != .max, instant >= phases.measureFromNanoseconds else {
            return wanted
        }
        let admitted = min(UInt64(wanted), remainingRequests)
        remainingRequests -= admitted
        if remainingRequests == 0 { isExhausted = true }
        return Int(admitted)
    }

    /// Whether `--requests` have all left; sending ends when they are written.
    private var isExhausted = false

    /// Ends the sending where the last request has been written.
    @inline(__always)
    func requestsWritten() {
        if isExhausted && isSending { stopSending() }
    }

    /// Reports the result when there is nothing more to wait for.
    func finishIfDone() {
        guard !isFinished, undecidedCount == 0, phases.startNanoseconds < .max / 4 else { return }
        let now = EventLoop.clock.nanoseconds
        guard !isSending && (outstandingCount == 0 || now >= drainDeadline) || openCount == 0 else {
            return
        }
        isFinished = true
        isSending = false
        sweep?.cancel()
        pacing?.timer.cancel()
        meter.finish(loop) { closeInterval($0) }
        for client in clients { client.close() }
        clients = []
        setup.report(.finished(makeResult(now)))
    }

    private func connectNext() {
        guard nextClient < clients.count else { return }
        nextClient += 1
        clients[nextClient - 1].connect()
    }

    private func sweepDeadlines() {
        let now = EventLoop.clock.nanoseconds
        for client in clients { client.sweep(now) }
        if isSending && now >= phases.measureUntilNanoseconds { stopSending() }
        finishIfDone()
    }

    private func closeInterval(_ number: Int) {
        let now = EventLoop.clock.nanoseconds
        setup.report(.interval(number, endNanoseconds: now, recorder.closeInterval()))
    }

    private func makeResult(_ now: UInt64) -> WorkerResult {
        WorkerResult(
            totals: recorder.makeTotals(),
            tallies: tallies.all(),
            failedVotes: ledger.failedVotes,
            unknownVotes: ledger.unknownVotes,
            createdIDs: ledger.createdIDs,
            unknownTitles: ledger.unknownTitles,
            findings: ledger.findings,
            lostConnectionCount: lostConnectionCount + setup.clientCount - openedCount,
            loopIdleShare: meter.idleShare,
            endNanoseconds: min(now, phases.measureUntilNanoseconds)
        )
    }

    /// Timeouts are noticed this much late at most.
    private static let sweepInterval = Duration.milliseconds(20)
    /// Connections that are being opened at once, below any usual backlog.
    private static let maximumConnectingCount = 128
}

@available(*, unavailable)
extension Worker: Sendable {}
