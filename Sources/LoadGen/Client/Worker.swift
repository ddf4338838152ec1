import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

/// One thread of the load, bound to its loop: its connections, its plan, its numbers.
///
/// Answers drive a closed loop: each makes room for the next request on its connection. The plan
/// drives an open loop: due requests go to connections with room, round robin. Where none has room,
/// a request waits and leaves later than planned, which the response time shows.
final class Worker {
    private enum Stage {
        case connecting
        case waiting
        case sending
        case draining
        case finished
    }

    let setup: WorkerSetup
    let loop: EventLoop
    let recorder: Recorder
    let inFlight: InFlightSlab
    let ledger: VoteLedger
    let isOpenLoop: Bool
    let timeoutNanoseconds: UInt64
    /// Whether all requests are votes that are drawn when there is room for them, leave alone and are
    /// sent once, and none asks for the service's times.
    let sendsPlainVotes: Bool
    /// Whether votes come from a schedule and end with it.
    let votesAsScheduled: Bool
    /// Whether requests are sent again where that is safe.
    let isRetrying: Bool
    let isThinking: Bool
    /// Where answers are noted in a run with several services; nil in one with one.
    let failover: FailoverMeter?
    let output = FrameBuffer(capacity: 1 << 16)
    var encoder = FrameEncoder()
    var decoder = MessageDecoder()
    var batchAnswer = VoteBatchAnswer()
    /// Chooses the calls that ask the service for its own times.
    var sampler = CallSampler()
    var phases = Phases(start: .max / 4, warmup: .zero, duration: nil)
    /// The planned votes that have not been taken.
    var schedule: VoteSchedule
    /// Requests that were taken, have no answer, and have not run out of time.
    var outstandingCount = 0
    /// The plan of an open loop, once it runs.
    var pacing: Pacing?
    /// The users of a closed loop who think before their next request; nil where none does.
    var thinking: Thinking?
    private(set) var timer: PreciseTimer?
    /// The instant that the timer is armed for.
    var armedFor: UInt64?
    private(set) var clients: [any LoadConnection] = []

    private var stage = Stage.connecting
    private let pauses: Backoff
    private var jitter = SystemRandomNumberGenerator()
    private var connections: ConnectionCounts
    private var connector: LoopTimer?
    private var connectStart = MonotonicInstant.now
    private var remainingRequests: UInt64
    private var drainDeadline = UInt64.max
    private var stuckSince: UInt64?
    private var sweep: LoopTimer?
    private let meter: LoopMeter

    /// The load of one thread; nothing happens before `connect()`.
    init(_ setup: WorkerSetup, on loop: EventLoop) {
        self.setup = setup
        self.loop = loop
        let configuration = setup.configuration
        isOpenLoop = configuration.isOpenLoop
        recorder = Recorder(isOpenLoop: isOpenLoop, isSplit: configuration.isLatencySplit)
        inFlight = InFlightSlab(
            clientCount: setup.clientCount,
            depth: configuration.pipelineDepth,
            hasDetails: isOpenLoop || setup.identity != nil
        )
        ledger = VoteLedger(setup)
        timeoutNanoseconds = configuration.timeout.nanoseconds
        votesAsScheduled = setup.workload.planned != nil
        isRetrying = setup.identity != nil
        isThinking = configuration.think != .none
        failover = setup.failover
        sendsPlainVotes =
            configuration.mix.hasOnlyVotes && !configuration.isLatencySplit
            && !ledger.isBatching && !isOpenLoop && !isThinking && !votesAsScheduled && !isRetrying
        thinking = isThinking ? Thinking(setup) : nil
        pauses = Backoff(configuration.retryPolicy)
        meter = LoopMeter(loop)
        schedule = setup.schedule ?? VoteSchedule()
        remainingRequests = setup.requestCount ?? .max
        connections = ConnectionCounts(clientCount: setup.clientCount)
    }

    @inline(__always)
    var isSending: Bool { stage == .sending }

    /// Opens the connections, at a limited rate and some at a time, so that no backlog overflows.
    func connect() throws(TransportError) {
        clients = (0..<setup.clientCount).map { makeClient($0) }
        sweep = try loop.addTimer(every: Self.sweepInterval) { [unowned self] in sweepDeadlines() }
        connectStart = .now
        connector = try loop.addTimer(every: .milliseconds(1)) { [unowned self] in connectDue() }
        connectDue()
    }

    func begin(_ phases: Phases) {
        self.phases = phases
        stage = .waiting
        do throws(TransportError) {
            let timer = try loop.addPreciseTimer { [unowned self] in timerFired() }
            timer.arm(at: MonotonicInstant(nanoseconds: phases.startNanoseconds))
            self.timer = timer
        } catch {
            recorder.totals.failures.count(.other)
            stopSending()
        }
        meter.schedule(phases, loop) { [unowned self] in closeInterval($0) }
        finishIfDone()
    }

    /// Stops sending and waits for the answers in flight.
    ///
    /// A run with retries waits until each has arrived or was given up, unless a caller `isWaiting`
    /// for the run's end.
    func stopSending(isWaiting: Bool = false) {
        let isEnding = stage == .sending || stage == .waiting
        guard isEnding || isWaiting && stage == .draining else { return }
        stage = .draining
        if isEnding { countUnsent() }
        if isWaiting || !isRetrying {
            let patience = min(RunConfiguration.cooldown.nanoseconds, timeoutNanoseconds)
            drainDeadline = MonotonicInstant.now.nanoseconds + patience
        }
        finishIfDone()
    }

    func connectionDecided(isOpen: Bool) {
        connections.decide(isOpen: isOpen)
        connectDue()
        guard connections.isDecided else { return }
        let opened = connections.openedCount
        setup.report(.connected(openedCount: opened, failures: recorder.totals.failures))
    }

    func connectionLost() {
        if stage != .finished { connections.lose() }
        finishIfDone()
    }

    /// How many of `wanted` requests may leave at `instant`.
    @inline(__always)
    func admit(_ wanted: Int, at instant: UInt64) -> Int {
        guard stage == .sending else { return 0 }
        if instant >= phases.measureUntilNanoseconds {
            stopSending()
            return 0
        }
        guard remainingRequests != .max, instant >= phases.measureFromNanoseconds else {
            return wanted
        }
        let admitted = min(UInt64(wanted), remainingRequests)
        remainingRequests -= admitted
        return Int(admitted)
    }

    /// How long to wait before try number `round`, in nanoseconds.
    func backoff(_ round: Int) -> UInt64 {
        pauses.delay(round: round, using: &jitter).nanoseconds
    }

    /// Ends the sending once the last of a number of requests has been written.
    @inline(__always)
    func requestsWritten() {
        if remainingRequests == 0 { stopSending() }
    }

    /// Reports the result when there is nothing more to wait for.
    func finishIfDone() {
        guard stage != .connecting, stage != .finished else { return }
        let now = MonotonicInstant.now.nanoseconds
        let isDrained = stage == .draining && (outstandingCount == 0 || now >= drainDeadline)
        guard isDrained || connections.openCount == 0 else { return }
        stage = .finished
        sweep?.cancel()
        timer?.cancel()
        meter.finish { closeInterval($0) }
        for client in clients { client.close() }
        clients = []
        setup.report(.finished(makeResult(now)))
    }

    private func timerFired() {
        guard stage == .waiting else {
            // The timer is no longer armed.
            armedFor = nil
            return isThinking ? endThoughts() : pump()
        }
        stage = .sending
        meter.loadBegan()
        guard remainingRequests > 0 else { return stopSending() }
        if isOpenLoop {
            startPacing()
        } else {
            for client in clients where client.isOpen { client.fill() }
        }
    }

    private func connectDue() {
        let configuration = setup.configuration
        let rate = configuration.connectsPerSecond / Double(configuration.threadCount)
        let seconds = Double(MonotonicInstant.now.duration(since: connectStart).nanoseconds) / 1e9
        let dueCount = Int(min(seconds * rate, Double(setup.clientCount))) + 1
        while let next = connections.nextToConnect(dueCount: dueCount) { clients[next].connect() }
        if connections.areBegun { connector?.cancel() }
    }

    private func sweepDeadlines() {
        let now = MonotonicInstant.now.nanoseconds
        for client in clients { client.sweep(now) }
        if now >= phases.measureUntilNanoseconds { stopSending() }
        giveUpIfStuck(now)
        finishIfDone()
    }

    /// Ends a run of a number of requests once every connection waits for an overdue answer.
    ///
    /// A run of fixed duration ends by itself, and until then the service may return.
    private func giveUpIfStuck(_ now: UInt64) {
        let isStuck =
            stage == .sending && outstandingCount == 0 && !clients.contains(where: \.hasRoom)
        guard isStuck, !isRetrying, remainingRequests != .max else {
            stuckSince = nil
            return
        }
        let since = stuckSince ?? now
        stuckSince = since
        if now - since >= timeoutNanoseconds { stopSending() }
    }

    private func closeInterval(_ number: Int) {
        let now = MonotonicInstant.now.nanoseconds
        setup.report(.interval(number, endNanoseconds: now, recorder.closeInterval()))
    }

    private func makeResult(_ now: UInt64) -> WorkerResult {
        let (tallies, counts) = ledger.knowledge()
        return WorkerResult(
            totals: recorder.makeTotals(),
            tallies: tallies,
            counts: counts,
            lostConnectionCount: setup.clientCount - connections.openCount,
            loopIdleShare: meter.idleShare,
            endNanoseconds: min(now, phases.measureUntilNanoseconds)
        )
    }

    /// Timeouts are noticed at most this late.
    private static let sweepInterval = Duration.milliseconds(20)
}

@available(*, unavailable)
extension Worker: Sendable {}

struct WorkerSetup: Sendable {
    let configuration: RunConfiguration
    let workload: Workload
    let address: SocketAddress
    /// The services of a run that has several; none in one with one.
    let services: [LoadService]
    let failover: FailoverMeter?
    let thread: Int
    /// The identity of the run to the service; nil in a run without retries.
    let identity: RunIdentity?
    let report: @Sendable (WorkerEvent) -> Void

    /// The share of the connections that each thread has, and how many threads have one more.
    private var share: (quotient: Int, remainder: Int) {
        configuration.clientCount.quotientAndRemainder(dividingBy: configuration.threadCount)
    }

    var clientCount: Int { share.quotient + (thread < share.remainder ? 1 : 0) }

    /// The number of its first connection over all threads.
    var firstClient: Int { thread * share.quotient + min(thread, share.remainder) }

    /// The votes to cast instead of a stream per connection; nil in a run with streams.
    var schedule: VoteSchedule? {
        workload.planned.map {
            VoteSchedule(
                $0,
                thread: thread,
                threadCount: configuration.threadCount,
                seed: configuration.seed
            )
        }
    }

    var window: PipelineWindow {
        PipelineWindow(depth: configuration.pipelineDepth, mode: configuration.pipelineMode)
    }

    /// The random numbers of connection number `client` for a purpose.
    func numbers(_ purpose: RandomStream.Purpose, client: Int = 0) -> RandomStream {
        RandomStream(seed: configuration.seed, thread: thread, client: client, purpose: purpose)
    }

    /// The requests of connection number `client` of this thread, which votes for some users or itself.
    func stream(client: Int, voterCount: Int = 0) -> RequestStream {
        RequestStream(
            mix: configuration.mix,
            keys: workload.keys,
            seed: configuration.seed,
            thread: thread,
            client: client,
            voterCount: voterCount
        )
    }

    /// This thread's share of all requests; nil where time ends the run.
    ///
    /// Planned votes fill batches; the last batch may have fewer votes.
    var requestCount: UInt64? {
        let batch = configuration.batchVoteCount
        if let schedule { return UInt64((schedule.count + batch - 1) / batch) }
        return configuration.requestCount.map { total in
            let threads = UInt64(configuration.threadCount)
            return total / threads + (UInt64(thread) < total % threads ? 1 : 0)
        }
    }
}

enum WorkerEvent: Sendable {
    case connected(openedCount: Int, failures: Failures)
    case interval(Int, endNanoseconds: UInt64, IntervalCounts)
    /// Nothing is in flight and nothing more will be sent.
    case finished(WorkerResult)
}

struct WorkerResult: Sendable {
    var totals: RecorderTotals
    var tallies: [VoteTally]
    var counts: AuditCounts
    /// Connections that ended before the load did, or never opened.
    var lostConnectionCount: Int
    /// The share of the measured time that the loop slept; nil where nothing was measured.
    var loopIdleShare: Double?
    /// When the measured time ended for this thread.
    var endNanoseconds: UInt64
}

/// Counts the connections of a thread: begun, opened, and still open.
package struct ConnectionCounts {
    package private(set) var openedCount = 0
    package private(set) var openCount = 0

    private let clientCount: Int
    private var begunCount = 0
    private var decidedCount = 0

    package init(clientCount: Int) {
        self.clientCount = clientCount
    }

    package var isDecided: Bool { decidedCount == clientCount }

    package var areBegun: Bool { begunCount == clientCount }

    /// The number of the connection to begin now; nil when all were begun, or `dueCount` were, or
    /// `limit` are begun and not decided.
    package mutating func nextToConnect(
        dueCount: Int,
        limit: Int = maximumConnectingCount
    ) -> Int? {
        guard begunCount < min(clientCount, dueCount), begunCount - decidedCount < limit else {
            return nil
        }
        begunCount += 1
        return begunCount - 1
    }

    package mutating func decide(isOpen: Bool) {
        decidedCount += 1
        guard isOpen else { return }
        openedCount += 1
        openCount += 1
    }

    package mutating func lose() {
        openCount -= 1
    }

    /// Connections that are opened at once, below any usual backlog.
    package static let maximumConnectingCount = 128
}

/// Ends the intervals of a thread's load and measures how long its loop slept while measuring.
///
/// An instant and the sleep up to it are read together, so no loop sleeps longer than it measures.
final class LoopMeter {
    private let idle: () -> Duration
    private var phases: Phases?
    private var timer: LoopTimer?
    private var number = 0
    private var start: (instant: UInt64, idle: Duration)?
    private var end: (instant: UInt64, idle: Duration)?

    init(_ loop: EventLoop) {
        idle = { [unowned loop] in loop.idleTime }
    }

    /// Calls `close` with the number of each interval at its end.
    func schedule(_ phases: Phases, _ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        self.phases = phases
        arm(loop, close)
    }

    /// Starts to measure with the load where there is no warm-up.
    func loadBegan() {
        guard let phases, phases.measureFromNanoseconds == phases.startNanoseconds else { return }
        start = (MonotonicInstant.now.nanoseconds, idle())
    }

    func finish(_ close: (Int) -> Void) {
        timer?.cancel()
        if start != nil && end == nil { end = (MonotonicInstant.now.nanoseconds, idle()) }
        close(number)
    }

    var idleShare: Double? {
        guard let start, let end, end.instant > start.instant else { return nil }
        return Double((end.idle - start.idle).nanoseconds) / Double(end.instant - start.instant)
    }

    private func arm(_ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        guard let boundary = phases?.intervalEnd(number) else { return }
        let now = MonotonicInstant.now.nanoseconds
        let delay = boundary > now ? boundary - now : 0
        // Without a timer the rest of the run is one long interval.
        timer = try? loop.addTimer(after: .nanoseconds(Int64(delay))) {
            [unowned self, unowned loop] in
            pass(close)
            arm(loop, close)
        }
    }

    private func pass(_ close: (Int) -> Void) {
        guard let phases else { return }
        let boundary = phases.intervalEnd(number)
        close(number)
        number += 1
        let now = MonotonicInstant.now.nanoseconds
        if boundary == phases.measureFromNanoseconds { start = (now, idle()) }
        if boundary >= phases.measureUntilNanoseconds, end == nil, start != nil {
            end = (now, idle())
        }
    }
}
