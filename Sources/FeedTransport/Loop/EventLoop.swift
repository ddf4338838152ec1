package import FeedConcurrency

/// One loop of libuv with its connections, bound to the thread that runs it.
///
/// All its methods are called on that thread, and everything but its mailbox is for that thread
/// only. An iteration of the loop is: timers, work left from the iteration before, a wait, the
/// events of the wait, closings. A loop that was made must be run, if only to stop.
package final class EventLoop {
    /// The limits its connections are held to.
    package let configuration: TransportConfiguration

    /// The bytes its connections share with those of other loops.
    package let budget: BufferBudget

    /// How other threads reach the loop.
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
    private var whenEmpty: [() -> Void] = []
    /// The work that was put off until after the next wait.
    private var putOffWork: [() -> Void] = []
    private var cachedNow: MonotonicInstant?
    /// The timers of a clock from the configuration; nil where libuv has them.
    let manualTimers: ManualTimers?
    /// Connections must be closed before the next wait, because too much is held.
    package internal(set) var isReliefDue = false
    /// Decides which connections the next relief spares.
    var relief = Relief()
    /// What secured connections share; nil before the first one.
    private var startedTLS: LoopTLS?
    private var thread: UInt?
    private(set) var isStopping = false

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

    deinit {
        precondition(isStopping, "An event loop was made and never run.")
    }

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

    /// How long the loop has slept in the kernel, which shows how busy it is; 0 where the configuration
    /// does not have it measured.
    package var idleTime: Duration { .nanoseconds(Int64(clamping: uv.idleNanoseconds)) }

    /// Traps, in debug builds, on any thread but the loop's.
    package func preconditionOnLoop() {
        assert(
            thread == nil || thread == Self.currentThread,
            "A loop was used on a thread that does not run it."
        )
    }
}

extension EventLoop {
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
}

extension EventLoop {
    /// Queues `connection` to see its bytes again before the next wait.
    func queueForIteration(_ connection: TCPConnection) {
        iterationQueue.append(connection)
        idle.startIdle()
    }

    /// Calls `body` once, before the next wait that begins after this step: other connections are served
    /// in between where `body` asks for this again.
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

    /// Makes the loop run the steps before the next wait, and keeps that wait short.
    func skipWait() {
        idle.startIdle()
    }

    /// Shows the handlers the bytes read in this wait.
    func deliverArrivals() {
        guard !arrivals.isEmpty else { return }
        // A handler may cause further reads of its own connection, though none in this wait.
        var delivered = Arrivals()
        swap(&delivered, &arrivals)
        delivered.deliver()
        if arrivals.isEmpty { swap(&delivered, &arrivals) } else { delivered.overwrite() }
    }

    /// Overwrites the memory that connections have received into.
    private func overwriteReceived() {
        guard arrivals.isEmpty else { return }
        hasReceivedSecret = false
        arrivals.overwrite()
        uv.overwriteReceiveBuffer()
        startedTLS?.overwrite()
    }

    /// Adds a connection and returns its place.
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
        let waiting = whenEmpty
        whenEmpty = []
        for body in waiting { body() }
    }

    /// Stores what runs when the last connection has closed.
    func addWhenEmpty(_ body: @escaping () -> Void) {
        whenEmpty.append(body)
    }
}

@available(*, unavailable)
extension EventLoop: Sendable {}
