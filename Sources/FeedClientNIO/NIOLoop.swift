package import FeedConcurrency
package import FeedNetwork
internal import NIOCore

#if canImport(Network)
internal import NIOTransportServices
#else
internal import NIOPosix
#endif

/// A loop of SwiftNIO with a client's connections, bound to the thread of its event loop.
package final class NIOLoop: TransportLoop {
    package typealias Connection = NIOConnection
    package typealias Handler = any TransportHandler<NIOConnection>

    package let mailbox: NIOMailbox
    package var context: AnyObject?
    let limits: ClientByteLimits
    private(set) var isStopping = false
    private var connections: [ObjectIdentifier: NIOConnection] = [:]
    private let whenStopped: () -> Void

    fileprivate init(
        _ mailbox: NIOMailbox,
        _ limits: ClientByteLimits,
        whenStopped: @escaping () -> Void
    ) {
        self.mailbox = mailbox
        self.limits = limits
        self.whenStopped = whenStopped
    }

    var eventLoop: any EventLoop { mailbox.eventLoop }

    package var now: MonotonicInstant { .now }

    package func addTimer(
        after delay: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> NIOTimer {
        try requireRunning()
        return NIOTimer(self, after: delay, every: nil, body)
    }

    package func addTimer(
        every interval: Duration,
        _ body: @escaping () -> Void
    ) throws(TransportError) -> NIOTimer {
        try requireRunning()
        return NIOTimer(self, after: interval, every: interval, body)
    }

    package func connect(
        to address: FeedNetwork.SocketAddress,
        timeout: Duration,
        security: NIOTarget?,
        handler: Handler
    ) throws(TransportError) {
        try requireRunning()
        let connection = NIOConnection(self, to: address, security, handler)
        connections[ObjectIdentifier(connection)] = connection
        try connection.connect(within: timeout)
    }

    package func stop() {
        guard !isStopping else { return }
        isStopping = true
        mailbox.close()
        mailbox.drain(on: self)
        for connection in connections.values { connection.abort(.local) }
        endIfEmpty()
    }

    func remove(_ connection: NIOConnection) {
        connections[ObjectIdentifier(connection)] = nil
        endIfEmpty()
    }

    /// Calls `body` after what the loop does now.
    func soon(_ body: @escaping () -> Void) { eventLoop.assumeIsolated().execute(body) }

    private func requireRunning() throws(TransportError) {
        if isStopping { throw .loopStopped }
    }

    private func endIfEmpty() {
        guard isStopping, connections.isEmpty else { return }
        // Not here: what the loop served may be in the middle of a call.
        soon { [self] in
            context = nil
            mailbox.forget()
            whenStopped()
        }
    }
}

@available(*, unavailable)
extension NIOLoop: Sendable {}

/// A timer of one loop, which a loop that stops fires no more.
package final class NIOTimer: TransportTimer {
    private let loop: NIOLoop
    private let interval: Duration?
    private var body: (() -> Void)?
    private var scheduled: Scheduled<Void>?

    fileprivate init(
        _ loop: NIOLoop,
        after delay: Duration,
        every interval: Duration?,
        _ body: @escaping () -> Void
    ) {
        self.loop = loop
        self.interval = interval
        self.body = body
        schedule(after: delay)
    }

    package func cancel() {
        body = nil
        scheduled?.cancel()
        scheduled = nil
    }

    private func schedule(after delay: Duration) {
        scheduled = loop.eventLoop.assumeIsolated()
            .scheduleTask(in: TimeAmount(delay)) { [self] in fire() }
    }

    private func fire() {
        guard let body, !loop.isStopping else { return cancel() }
        if let interval { schedule(after: interval) } else { cancel() }
        body()
    }
}

@available(*, unavailable)
extension NIOTimer: Sendable {}

/// A thread of SwiftNIO with one loop.
package final class NIOLoopThread: TransportThread {
    package let mailbox: NIOMailbox
    private let finish = Finish()

    /// SwiftNIO names the thread.
    package init(
        name: String,
        limits: ClientByteLimits,
        start: @escaping @Sendable (NIOLoop) -> Void
    ) throws(TransportError) {
        #if canImport(Network)
        let group = NIOTSEventLoopGroup(loopCount: 1)
        #else
        try TransportError.checkRoomForLoop()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        #endif
        mailbox = NIOMailbox(group.next())
        mailbox.eventLoop.execute { [mailbox, finish] in
            let loop = NIOLoop(mailbox, limits) {
                group.shutdownGracefully { _ in finish.reach() }
            }
            mailbox.attach(loop)
            start(loop)
        }
    }

    package func stop() { mailbox.post { $0.stop() } }

    package func whenFinished(_ body: @escaping @Sendable () -> Void) {
        finish.whenReached(body)
    }
}

/// The one way into a loop from other threads: a locked list, and one task of the loop for all of it.
package struct NIOMailbox: TransportMailbox {
    package typealias Work = @Sendable (NIOLoop) -> Void

    private struct State: Sendable {
        var posted: [Work] = []
        var isDrainDue = false
        /// The event loop is used under the lock only, so it gets no task once it has ended.
        var isClosed = false
    }

    private final class Storage: Sendable {
        let state = Lock(State())
        let loop: NIOLoopBoundBox<NIOLoop?>

        init(_ eventLoop: any EventLoop) { loop = .makeEmptyBox(eventLoop: eventLoop) }
    }

    let eventLoop: any EventLoop
    private let storage: Storage

    fileprivate init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        storage = Storage(eventLoop)
    }

    @discardableResult
    package func post(_ work: @escaping Work) -> Bool {
        storage.state.withLock { state in
            guard !state.isClosed else { return false }
            state.posted.append(work)
            guard !state.isDrainDue else { return true }
            state.isDrainDue = true
            eventLoop.execute { [self] in
                if let loop = storage.loop.value { drain(on: loop) }
            }
            return true
        }
    }

    fileprivate func drain(on loop: NIOLoop) {
        let batch = storage.state.withLock { state in
            state.isDrainDue = false
            defer { state.posted = [] }
            return state.posted
        }
        for work in batch { work(loop) }
    }

    /// Takes nothing more; work that was taken before can still be drained.
    fileprivate func close() { storage.state.withLock { $0.isClosed = true } }

    fileprivate func attach(_ loop: NIOLoop) { storage.loop.value = loop }

    fileprivate func forget() { storage.loop.value = nil }
}
