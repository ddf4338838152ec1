internal import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

/// One thread of the load, bound to its loop: its connections, its plan, its numbers.
///
/// Answers drive a closed loop: each makes room for the next request on its connection. The plan
/// drives an open loop: due requests go to connections with room, round robin. Where none has room,
/// a request waits and leaves later than planned, which the response time shows.
final class Worker {
    /// The stage of the load.
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
    let posts: PostSlab
    /// The votes of the batches in flight.
    var batches: BatchSlab
    /// The batch answer that is being read.
    var batchAnswer = VoteBatchAnswer()
    let scores: ScoreMemory
    /// The scores that pages must show; nil in a run without pages, or if scores may fall.
    var shownScores: AcknowledgedScores?
    /// What is known of the ballots of this thread's voters; empty without voters.
    let ballots: BallotSlab
    /// How far the number of a vote is shifted to the left of its post's.
    let voteShift: UInt32
    let isOpenLoop: Bool
    let timeoutNanoseconds: UInt64
    /// What the numbers of votes stand for.
    let tallied: Tallied
    /// Whether votes leave in batches.
    let isBatching: Bool
    /// Whether all requests are votes that are drawn when there is room for them, leave alone and are
    /// sent once, and none asks for the service's times.
    let sendsPlainVotes: Bool
    /// Whether votes come from a schedule and end with it.
    let votesAsScheduled: Bool
    /// Whether requests are sent again where that is safe.
    let isRetrying: Bool
    /// Whether the users of a closed loop think before each request.
    let isThinking: Bool
    let output = FrameBuffer(capacity: 1 << 16)
    var encoder = FrameEncoder()
    var decoder = MessageDecoder()
    var counts = AuditCounts()
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
        batches = BatchSlab(
            count: setup.clientCount * configuration.pipelineDepth,
            capacity: configuration.batchVoteCount
        )
        posts = PostSlab(ids: setup.workload.postIDs)
        scores = ScoreMemory(clientCount: setup.clientCount)
        shownScores = AcknowledgedScores(of: configuration.mix, setup.workload.tallied)
        ballots = BallotSlab(
            voterCount: setup.clientCount * configuration.mostVotersOfAClient,
            postCount: setup.workload.postIDs.count
        )
        voteShift = setup.workload.tallied == .ballots ? 2 : 0
        timeoutNanoseconds = configuration.timeout.nanoseconds
        tallied = setup.workload.tallied
        isBatching = configuration.batchVoteCount > 1
        votesAsScheduled = setup.schedule != nil
        isRetrying = setup.identity != nil
        isThinking = configuration.think != .none
        sendsPlainVotes =
            configuration.mix.hasOnlyVotes && !configuration.isLatencySplit && !isBatching
            && !isOpenLoop && !isThinking && !votesAsScheduled && !isRetrying
        thinking = isThinking ? Thinking(setup) : nil
        pauses = Backoff(configuration.retryPolicy)
        meter = LoopMeter(loop)
        schedule = setup.schedule ?? VoteSchedule()
        remainingRequests = setup.requestCount ?? .max
        connections = ConnectionCounts(clientCount: setup.clientCount)
    }

    /// Whether requests may leave.
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

    /// Starts the load at the instant that the phases name.
    func begin(_ phases: Phases) {
        self.phases = phases
        stage = .waiting
        do throws(TransportError) {
            let timer = try loop.addPreciseTimer { [unowned self] in timerFired() }
            timer.arm(at: MonotonicInstant(nanoseconds: phases.startNanoseconds))
            self.timer = timer
        } catch {
            recorder.failures.count(.other)
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

    /// Records how a connection attempt ended.
    func connectionDecided(isOpen: Bool) {
        connections.decide(isOpen: isOpen)
        connectDue()
        guard connections.isDecided else { return }
        let opened = connections.openedCount
        setup.report(.connected(openedCount: opened, failures: recorder.failures))
    }

    /// Records the end of an open connection.
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
            pacing?.armedFor = nil
            thinking?.armedFor = nil
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
        let (tallies, counts) = tallied == .ballots ? ballotKnowledge() : (posts.tallies(), counts)
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
