import CLibUV
package import FeedConcurrency
// Who uses a loop names addresses and errors of the network.
@_exported public import FeedNetwork
import Synchronization

/// One loop of libuv with its connections, bound to the thread that runs it.
///
/// All its methods are called on that thread, and everything but its mailbox is for that thread
/// only. An iteration of the loop is: timers, work left from the iteration before, a wait, the
/// events of the wait, closings. A loop that was made must be run, if only to stop.
package final class EventLoop {
    package let configuration: TransportConfiguration
    /// The bytes its connections share with those of other loops.
    package let budget: BufferBudget
    package let mailbox: LoopMailbox
    /// The open connections, in no order; each knows its place.
    private(set) var connections: [TCPConnection] = []
    /// How often deadlines were checked.
    private(set) var sweep = 0
    /// The program's own object for this loop's connections; set on the loop before the first one.
    package var context: AnyObject?

    let uv: UVLoop
    let deadlineLimits: ConnectionDeadlines.Limits
    /// The reads of this wait that are not shown yet.
    var arrivals = Arrivals()
    /// Something that was received may be a secret: its memory is overwritten before the next wait.
    var hasReceivedSecret = false

    private let idle: UVHandle
    private var iterationQueue: [TCPConnection] = []
    private var waitingUntilEmpty: [() -> Void] = []
    /// The work that was put off until after the next wait.
    private var putOffWork: [() -> Void] = []
    private var cachedNow: MonotonicInstant?
    /// The timers of a clock from the configuration; nil if libuv has them.
    let manualTimers: ManualTimers?
    /// Connections must be closed before the next wait, because too much is held.
    package internal(set) var isReliefDue = false
    private var relief = Relief()
    /// What secured connections share; nil before the first one.
    private var startedTLS: LoopTLS?
    private var thread: UInt?
    private var isStopping = false

    /// A loop that is ready for work, from any single thread until it runs.
    package init(
        configuration: TransportConfiguration,
        budget: BufferBudget
    ) throws(TransportError) {
        self.configuration = configuration
        self.budget = budget
        deadlineLimits = ConnectionDeadlines.Limits(configuration)
        manualTimers = configuration.clock.map { ManualTimers(at: $0.now) }
        uv = try UVLoop(
            receiveBufferByteCount: configuration.receiveBufferByteCount,
            measuresIdleTime: configuration.measuresIdleTime
        )
        let (idle, wakeUp) = try Self.makeHandles(uv)
        self.idle = idle
        mailbox = LoopMailbox(wakeUp.waker)
        idle.body = { [unowned self] in serveQueued() }
        wakeUp.body = { [unowned self] in
            deliverArrivals()
            mailbox.drain(on: self)
        }
        wakeUp.closed = { [mailbox] in mailbox.close() }
        try prepareHandles()
    }

    deinit { precondition(isStopping, "An event loop was made and never run.") }

    /// Runs until ``stop()``, then closes everything; to be called once.
    package func run() {
        thread = Self.currentThread
        uv.run()
        precondition(isStopping, "An event loop ran out of handles before it was stopped.")
        uv.close()
        // What the loop served refers to the loop, and would live as long as it.
        context = nil
    }

    /// Runs the work that the mailbox took, closes every connection and handle, and lets ``run()``
    /// return.
    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        manualTimers?.removeAll()
        mailbox.close()
        mailbox.drain(on: self)
        for connection in connections { connection.abort(.local) }
        startedTLS?.removeAll()
        uv.closeHandles()
    }

    /// Throws if the loop is stopping: work that starts then would never end.
    func requireRunning() throws(TransportError) {
        preconditionOnLoop()
        if isStopping { throw .loopStopped }
    }

    /// The clock, read at most once an iteration.
    package var now: MonotonicInstant {
        if let manualTimers { return manualTimers.now }
        if let cachedNow { return cachedNow }
        let now = MonotonicInstant.now
        cachedNow = now
        return now
    }

    /// How long the loop has slept in the kernel, which shows how busy it is; 0 if the configuration
    /// does not have it measured.
    package var idleTime: Duration { .nanoseconds(Int64(clamping: uv.idleNanoseconds)) }

    /// Traps, in debug builds, on any thread but the loop's.
    package func preconditionOnLoop() {
        assert(
            thread == nil || thread == Self.currentThread,
            "A loop was used on a thread that does not run it."
        )
    }

    private static func makeHandles(
        _ uv: UVLoop
    ) throws(TransportError) -> (idle: UVHandle, wakeUp: UVHandle) {
        do {
            return (try UVHandle.idle(uv), try UVHandle.async(uv))
        } catch {
            uv.closeHandles()
            uv.run()
            uv.close()
            throw error
        }
    }

    private func prepareHandles() throws(TransportError) {
        do {
            try addTimer(every: configuration.sweepInterval) { [unowned self] in
                sweepConnections()
            }
            configuration.clock?.notify { [mailbox] now in
                mailbox.post { $0.manualTimers?.run(through: now) }
            }
            try UVHandle.prepare(uv).body = { [unowned self] in
                cachedNow = nil
                if hasReceivedSecret { overwriteReceived() }
            }
            if configuration.showsReadsTogether {
                try UVHandle.check(uv).body = { [unowned self] in deliverArrivals() }
            }
        } catch {
            stop()
            run()
            throw error
        }
    }

    /// Checks every connection's deadlines; a late call still counts as one sweep.
    private func sweepConnections() {
        sweep += 1
        // Closing removes a connection later, so the list does not change meanwhile.
        for connection in connections { connection.sweep() }
        relieveInSweep()
    }

    /// Shows each queued connection its bytes once; those that ask again wait for the next
    /// iteration.
    private func serveQueued() {
        relieveIfDue()
        let queue = iterationQueue
        iterationQueue = []
        for connection in queue { connection.takeIteration() }
        let work = putOffWork
        putOffWork = []
        for body in work { body() }
        if let startedTLS, startedTLS.hasWork {
            startedTLS.work()
            // What came with the end of a handshake does not wait for the next event.
            deliverArrivals()
        }
        // The wait comes after this step, and a started idle handle keeps it short.
        if iterationQueue.isEmpty, putOffWork.isEmpty, !isReliefDue, startedTLS?.hasWork != true {
            idle.stopIdle()
        }
    }

    /// Queues `connection` to see its bytes again before the next wait.
    func queueForIteration(_ connection: TCPConnection) {
        iterationQueue.append(connection)
        idle.startIdle()
    }

    /// Calls `body` once, before the next wait that begins after this step: other connections are served
    /// in between if `body` asks for this again.
    package func putOff(_ body: @escaping () -> Void) {
        preconditionOnLoop()
        guard !isStopping else { return }
        putOffWork.append(body)
        idle.startIdle()
    }

    /// Queues a handshake of which bytes have come, to be worked on before the next wait.
    func queueHandshake(of connection: TCPConnection) {
        tls.add(connection)
        idle.startIdle()
    }

    /// What secured connections share, made for the first one.
    var tls: LoopTLS {
        if let startedTLS { return startedTLS }
        let made = LoopTLS(readByteCount: configuration.receiveBufferByteCount)
        startedTLS = made
        return made
    }

    func deliverArrivals() {
        guard !arrivals.isEmpty else { return }
        // A handler may cause further reads of its own connection, though none in this wait.
        var delivered = Arrivals()
        swap(&delivered, &arrivals)
        delivered.deliver()
        if arrivals.isEmpty { swap(&delivered, &arrivals) } else { delivered.overwrite() }
    }

    private func overwriteReceived() {
        guard arrivals.isEmpty else { return }
        hasReceivedSecret = false
        arrivals.overwrite()
        uv.overwriteReceiveBuffer()
        startedTLS?.overwrite()
    }

    func insert(_ connection: TCPConnection) -> Int {
        connections.append(connection)
        budget.addConnection(1)
        return connections.count - 1
    }

    /// Removes the connection at `place`; the last one takes its place.
    func remove(at place: Int) {
        let last = connections.removeLast()
        if place < connections.count {
            connections[place] = last
            last.place = place
        }
        budget.addConnection(-1)
        guard connections.isEmpty else { return }
        let waiting = waitingUntilEmpty
        waitingUntilEmpty = []
        for body in waiting { body() }
    }
}

@available(*, unavailable)
extension EventLoop: Sendable {}

extension EventLoop {
    /// The number of the loop's connections, including those that are closing.
    package var connectionCount: Int { connections.count }

    /// Calls `body` with each connection; it may close any of them.
    package func forEachConnection(_ body: (TCPConnection) -> Void) {
        preconditionOnLoop()
        for connection in connections { body(connection) }
    }

    /// Calls `body` when the last connection has closed: now, if there is none.
    package func whenEmpty(_ body: @escaping () -> Void) {
        preconditionOnLoop()
        if connections.isEmpty { body() } else { waitingUntilEmpty.append(body) }
    }

    /// Takes over an accepted socket; the handler is made for the open connection.
    package func adopt(
        _ socket: AcceptedSocket,
        handler: (TCPConnection) -> any ConnectionHandler
    ) {
        preconditionOnLoop()
        mailbox.addConnection(1)
        guard let connection = makeCounted(socket) else { return }
        connection.open(handler(connection))
    }

    /// Takes over an accepted socket that the mailbox has counted already; nil if it is of no use.
    private func makeCounted(_ socket: AcceptedSocket) -> TCPConnection? {
        if !isStopping, var stream = try? UVStream(uv) {
            if (try? stream.open(socket.descriptor)) != nil {
                return TCPConnection(self, stream, peer: socket.peer, isProxied: socket.isProxied)
            }
            // The peer broke the connection before the loop opened it.
            stream.close()
        }
        UVSocket.close(socket.descriptor)
        mailbox.addConnection(-1)
        return nil
    }

    /// Takes over an accepted socket that the mailbox has counted already; the handler is made for the
    /// open connection.
    func adoptCounted(
        _ socket: AcceptedSocket,
        securedBy acceptor: TLSAcceptor?,
        handshakeLimit: Int,
        handler: @escaping TCPConnection.MakeHandler
    ) {
        guard let connection = makeCounted(socket) else { return }
        if let acceptor {
            connection.open(secured: acceptor, handshakeLimit: handshakeLimit, handler)
        } else {
            connection.open(handler(connection))
        }
    }

    /// Takes over an accepted socket of a proxy that the mailbox has counted already; `adopt` gets it once
    /// its header has come.
    func awaitProxyHeader(
        of socket: AcceptedSocket,
        report: @escaping TrustedProxies.Report,
        adopt: @escaping (AcceptedSocket) -> Void
    ) {
        do throws(TransportError) {
            _ = try ProxiedSocket(socket, on: self, report: report, adopt: adopt)
        } catch {
            UVSocket.close(socket.descriptor)
            mailbox.addConnection(-1)
        }
    }

    /// Connects within a time, which includes the handshake of TLS; without security it sends plain bytes.
    ///
    /// The handler is notified either that the connection opened or that it closed. Throws if the loop is
    /// stopping or the system makes no socket.
    package func connect(
        to address: SocketAddress,
        timeout: Duration,
        security: TLSTarget? = nil,
        handler: any ConnectionHandler
    ) throws(TransportError) {
        try requireRunning()
        var stream = try UVStream(uv)
        do {
            try stream.connect(to: address, configuration)
        } catch {
            stream.close()
            throw error
        }
        mailbox.addConnection(1)
        let limit = timeout.sweepCount(configuration.sweepInterval)
        _ = TCPConnection(
            self,
            stream,
            peer: address,
            connecting: handler,
            connectLimit: limit,
            security: security
        )
    }
}

/// How connections are closed if too much is held for connections: the largest holders first, so
/// that the others are served. Bytes that closing does not return do not count.
///
/// Each loop closes only its own connections, and another loop may hold the excess. So a host
/// within its share is spared at first. Its connections are closed if a later sweep still finds too
/// much and no loop has closed anything in between.
extension EventLoop {
    /// The history of the relief, by which sweeps decide which hosts to spare.
    private struct Relief {
        /// The sweep of a relief that was in vain: the next relief waits for the next sweep.
        var vainSweep = -1
        /// Whether the last sweep left more than a level, ``BudgetLevel/sharing`` for stalled
        /// connections and ``BudgetLevel/closing`` for any.
        var leftTooMuch = (stalled: false, any: false)
        /// The connections that all loops had closed by then.
        var closingCount = 0
    }

    /// Closes connections if too much is held; to be called once a sweep.
    ///
    /// O(connections) if too much is held, else O(1).
    private func relieveInSweep() {
        guard configuration.closesOverBudget else { return }
        let isInVain = relief.closingCount == budget.closingCount
        relieve(onlyStalled: true, sparesModestHosts: !(isInVain && relief.leftTooMuch.stalled))
        relieve(onlyStalled: false, sparesModestHosts: !(isInVain && relief.leftTooMuch.any))
        relief.leftTooMuch.stalled = budget.isAbove(.sharing)
        relief.leftTooMuch.any = budget.isAbove(.closing)
        relief.closingCount = budget.closingCount
    }

    /// Closes connections until less is held: only those that take nothing, or also others; and of hosts that
    /// hold no more than their share, or of others only.
    ///
    /// It takes the hosts that hold most first; of a host, connections that take nothing before those that
    /// do; and of these, the largest holder first.
    ///
    /// O(connections). Each loop looks at its own connections; hosts are compared over all loops.
    private func relieve(onlyStalled: Bool, sparesModestHosts: Bool) {
        let level: BudgetLevel = onlyStalled ? .sharing : .closing
        guard budget.isAbove(level) else { return }
        // Well below the level, so that the next relief is not due at once.
        let wanted = budget.threshold(of: level) - budget.limitByteCount / 8
        var candidates: [Candidate] = []
        for (place, connection) in connections.enumerated()
        where connection.mayBeClosed(
            onlyStalled: onlyStalled,
            sparesModestHosts: sparesModestHosts
        ) {
            candidates.append(
                Candidate(
                    hostByteCount: budget.byteCount(of: connection.hostSlot),
                    isStalled: connection.isStalled,
                    byteCount: connection.accountedByteCount,
                    place: place
                )
            )
        }
        candidates.sort { $1 < $0 }
        // Closing removes a connection from the list later, so places do not change. It brings a
        // host down to its share, which may then be spared.
        for candidate in candidates where budget.connectionByteCount > wanted {
            let connection = connections[candidate.place]
            guard !sparesModestHosts || connection.isOfGreedyHost else { continue }
            connection.closeOverBudget()
        }
        if !onlyStalled, budget.isAbove(level) { relief.vainSweep = sweep }
    }

    /// Requests a relief before the next wait if so much is held that it cannot wait for the next
    /// sweep, unless a relief was in vain since the last one.
    func relieveSoonIfNeeded() {
        guard !isReliefDue, configuration.closesOverBudget, relief.vainSweep != sweep,
            budget.isAbove(.closing)
        else { return }
        isReliefDue = true
        // Makes the loop run the steps before the next wait, and keeps that wait short.
        idle.startIdle()
    }

    private func relieveIfDue() {
        guard isReliefDue else { return }
        isReliefDue = false
        relieve(onlyStalled: false, sparesModestHosts: true)
    }

    /// A connection that may be closed; the greatest one is closed first.
    private struct Candidate: Comparable {
        let hostByteCount: Int
        let isStalled: Bool
        let byteCount: Int
        let place: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.hostByteCount, left.isStalled ? 1 : 0, left.byteCount)
                < (right.hostByteCount, right.isStalled ? 1 : 0, right.byteCount)
        }
    }

    @discardableResult
    package func addTimer(
        after delay: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> LoopTimer {
        try requireRunning()
        return try LoopTimer(self, after: delay, every: nil, body)
    }

    /// Calls `body` repeatedly, first after one interval; late calls are not made up for.
    @discardableResult
    package func addTimer(
        every interval: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> LoopTimer {
        try requireRunning()
        return try LoopTimer(self, after: interval, every: interval, body)
    }

    /// Makes a timer with a resolution of nanoseconds, and makes the loop's thread punctual.
    ///
    /// Call it on that thread.
    ///
    /// The timer always uses the system's clock.
    package func addPreciseTimer(
        _ body: @escaping () -> Void
    ) throws(TransportError) -> PreciseTimer {
        try requireRunning()
        Self.makeThreadPunctual()
        return try PreciseTimer(uv, body)
    }

    /// Calls `body` on the loop for each signal of that number that the process gets.
    package func onSignal(_ number: Int32, _ body: @escaping () -> Void) throws(TransportError) {
        try requireRunning()
        try UVHandle.signal(number, uv).body = body
    }

    /// Makes wake-ups of the calling thread punctual, instead of 50 µs late to save power.
    private static func makeThreadPunctual() {
        // If the system refuses, timers are late by that much; nothing else changes.
        _ = clibuv_set_timer_slack(1)
    }

    /// The calling thread, to distinguish the loop's own thread from others.
    private static var currentThread: UInt { UInt(uv_thread_self()) }
}

/// A named thread that runs one event loop from its start until the loop is stopped.
package final class EventLoopThread: Sendable {
    package let mailbox: LoopMailbox

    private let thread: NamedThread
    private let finish = Finish()

    /// The name that the system shows, at most 15 bytes of it.
    package var name: String { thread.name }

    /// Starts a thread that calls `start` on its loop and then runs it.
    package init(
        name: String,
        configuration: TransportConfiguration,
        budget: BufferBudget,
        start: @escaping @Sendable (EventLoop) -> Void
    ) throws(TransportError) {
        let loop = try EventLoop(configuration: configuration, budget: budget)
        mailbox = loop.mailbox
        thread = NamedThread(name)
        let transferred = Transferred(loop)
        do {
            try thread.start { [self] in
                start(transferred.value)
                transferred.value.run()
                finish.reach()
            }
        } catch {
            loop.stop()
            loop.run()
            throw transportError(-error.code, .other("Starting a thread"))
        }
    }

    package func stop() { _ = mailbox.post { $0.stop() } }

    /// Waits until the thread has ended.
    ///
    /// Any number of callers may wait, at any time.
    ///
    /// Blocks: do not call it from Swift's tasks, which share few threads, or from the thread
    /// itself.
    package func join() { thread.join() }

    /// Calls `body` when the loop is closed: on the thread as it ends, or at once if it has.
    package func whenFinished(_ body: @escaping @Sendable () -> Void) {
        finish.whenReached(body)
    }
}

/// The one way into a loop from other threads: a locked list and one wake-up.
package struct LoopMailbox: Sendable {
    package typealias Work = @Sendable (EventLoop) -> Void

    private struct State: Sendable {
        var posted: [Work] = []
        var isWakePending = false
        var drainCount: UInt64 = 0
        /// Nil once the loop takes nothing more.
        ///
        /// The waker is used under the lock only, so it is never used after that.
        var waker: UVWaker?

        /// Wakes the loop unless it is about to come; returns false if it has stopped.
        mutating func wake() -> Bool {
            guard let waker else { return false }
            if !isWakePending {
                isWakePending = true
                waker.wake()
            }
            return true
        }
    }

    private final class Storage: Sendable {
        let state: Lock<State>
        let connectionCount = Atomic<Int>(0)

        init(_ waker: UVWaker) { state = Lock(State(waker: waker)) }
    }

    private let storage: Storage

    fileprivate init(_ waker: UVWaker) { storage = Storage(waker) }

    /// Runs `work` on the loop soon, after earlier posted work; returns false, and runs nothing, if
    /// the loop has stopped.
    @discardableResult
    package func post(_ work: @escaping Work) -> Bool {
        storage.state.withLock { state in
            guard state.wake() else { return false }
            state.posted.append(work)
            return true
        }
    }

    /// How often the loop has taken what was posted; it does so soon after each ``wake()``.
    package var drainCount: UInt64 { storage.state.withLock { $0.drainCount } }

    /// Wakes the loop without work, and without allocating; returns false if the loop has stopped.
    package func wake() -> Bool { storage.state.withLock { $0.wake() } }

    /// The connections that the loop has or that were transferred to it.
    package var connectionCount: Int { storage.connectionCount.load(ordering: .relaxed) }

    /// Counts a connection that was transferred to the loop (1) or closed (-1).
    func addConnection(_ change: Int) {
        storage.connectionCount.wrappingAdd(change, ordering: .relaxed)
    }

    fileprivate func drain(on loop: EventLoop) {
        let batch = storage.state.withLock { state in
            state.isWakePending = false
            state.drainCount += 1
            defer { state.posted = [] }
            return state.posted
        }
        for work in batch { work(loop) }
    }

    /// Takes nothing more; work that was taken before can still be drained.
    fileprivate func close() { storage.state.withLock { $0.waker = nil } }

    func isSame(as other: LoopMailbox) -> Bool { storage === other.storage }
}
