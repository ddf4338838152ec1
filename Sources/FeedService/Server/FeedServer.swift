internal import FeedAccounts
internal import FeedConcurrency
internal import FeedRanking
internal import FeedState
package import FeedTransport
package import Logging

/// The running service: a store, its loops and its listeners.
package final class FeedServer: Sendable {
    /// The addresses that are listened on, with the ports that the system gave.
    package let addresses: [SocketAddress]
    /// The addresses that are listened on with TLS.
    package let tlsAddresses: [SocketAddress]
    /// Secures the connections of these; nil where there are none.
    package let tlsAcceptor: TLSAcceptor?
    private let threads: [EventLoopThread]
    private let store: FeedStore
    private let context: ServiceContext
    private let stateEvents: StateEvents
    private let stallWatch: StallWatch
    private let logger: Logger
    private let operation: OperatorAddress?

    /// The operator's address, with the port that the system gave; nil where there is none.
    package var adminAddress: SocketAddress? { operation?.address }

    /// The operator's address with TLS; nil if there is none.
    package var adminTLSAddress: SocketAddress? { operation?.tlsAddress }

    /// Secures the connections of the operator's address with TLS; nil if there is none.
    package var adminTLSAcceptor: TLSAcceptor? { operation?.acceptor }

    private init(
        listening: Listening,
        threads: [EventLoopThread],
        store: FeedStore,
        context: ServiceContext,
        stateEvents: StateEvents,
        stallWatch: StallWatch,
        logger: Logger,
        _ operation: OperatorAddress?
    ) {
        self.stallWatch = stallWatch
        addresses = listening.addresses
        tlsAddresses = listening.tlsAddresses
        tlsAcceptor = listening.tlsAcceptor
        self.operation = operation
        self.threads = threads
        self.store = store
        self.context = context
        self.stateEvents = stateEvents
        self.logger = logger
    }

    /// Starts loops and listeners; returns when connections are accepted.
    ///
    /// Blocks until then, and leaves nothing behind where it fails.
    package static func start(
        _ configuration: ServiceConfiguration,
        logger: Logger
    ) throws(ServiceStartError) -> FeedServer {
        let operation: OperatorAddress?
        do throws(TransportError) {
            operation = try OperatorAddress.start(configuration)
        } catch {
            throw .transport(error)
        }
        do throws(ServiceStartError) {
            return try start(configuration, operation, logger: logger)
        } catch {
            operation?.stop()
            throw error
        }
    }

    private static func start(
        _ configuration: ServiceConfiguration,
        _ operation: OperatorAddress?,
        logger: Logger
    ) throws(ServiceStartError) -> FeedServer {
        let configuration = try configuration.withinOpenFileLimit(
            ProcessSetup.raiseOpenFileLimit(),
            warn: { logger.warning("\($0)") }
        )
        // Before the data directory is made. A recovering service does not listen yet: clients are
        // refused at once and try again, instead of waiting in a queue that is not served.
        do throws(TransportError) {
            let addresses = configuration.addresses + (configuration.tls?.addresses ?? [])
            for address in addresses { try address.checkCanListen() }
        } catch {
            throw .transport(error)
        }
        let clock = ClockWatch(timeOfDay: configuration.timeOfDay)
        // No post gets a time of a clock that has jumped, also where a change was admitted just
        // before it did.
        let store = FeedStore(stripeCount: configuration.stripeCount) { clock.now() }
        let stateEvents = StateEvents(logger)
        let channels = configuration.emptyChannels
        var accounts = AccountsState()
        let state = try openState(
            configuration,
            store,
            channels,
            accounts: &accounts,
            events: stateEvents,
            logger: logger
        )
        let context = ServiceContext(configuration, state, channels: channels, clock: clock)
        try restore(accounts, to: context.accounts)
        context.accounts.skipNumbers(upTo: state?.recovery.skippedAccountID ?? 0)
        if configuration.hasSampleData, store.postCount == 0 {
            SampleData.fill(store, logging: context.changeLog(0))
        }
        if let state { try startThreads(of: state, configuration) }
        try start(context.passwords, orStop: state)
        var threads: [EventLoopThread] = []
        do throws(ServiceStartError) {
            for index in 0..<configuration.threadCount {
                threads.append(try startLoop(index, store, context, log: ServiceLog(logger)))
            }
            stateEvents.attach(
                threads.map(\.mailbox),
                durableBatch: state?.journal.durableBatch ?? 0
            )
            let listening = try listen(configuration, on: threads, of: store, context, logger)
            operation?.attach(
                ServiceMetrics(context: context, store: store, acceptor: listening.tlsAcceptor),
                stateEvents,
                threads.map(\.mailbox)
            )
            let server = FeedServer(
                listening: listening,
                threads: threads,
                store: store,
                context: context,
                stateEvents: stateEvents,
                stallWatch: try stallWatch(over: threads, context, logger),
                logger: logger,
                operation
            )
            context.onDrainRequest { [weak server] in server?.drainForOperator() }
            return server
        } catch {
            for thread in threads {
                thread.stop()
                thread.join()
            }
            state?.stop()
            context.passwords.stop()
            throw error
        }
    }

    /// Finishes what was received, says GoAway, flushes and ends; `wait` returns then.
    ///
    /// - Returns: False where the service was draining already.
    @discardableResult
    package func beginDraining() -> Bool {
        guard context.beginDraining() else { return false }
        let others = threads.dropFirst().map(\.mailbox)
        threads[0].mailbox.post { loop in
            let serviceLoop = ServiceLoop.of(loop)
            // No connection reaches another loop after its drain: the listeners close first.
            serviceLoop.closeListeners()
            serviceLoop.drain()
            for mailbox in others {
                mailbox.post { ServiceLoop.of($0).drain() }
            }
        }
        return true
    }

    /// An operator's call begins what SIGTERM begins.
    private func drainForOperator() {
        guard beginDraining() else { return }
        logger.notice("\(OperatorLines.drainCalled)")
    }

    /// Blocks until the service has ended, all that it answered is checkpointed, and its data
    /// directory is closed: it may be opened again then.
    package func wait() {
        for thread in threads { thread.join() }
        context.state?.stop()
        stallWatch.stop()
        // After the state, as a hash may wait seconds for a processor, and nobody waits for it any more.
        context.passwords.stop()
        operation?.stop()
    }

    /// A hash of all that outlives a restart, for tests; once the service has ended.
    package var stateHash: UInt64 { Self.hash(store, context.accounts.state()) }

    /// Calls `body` on a thread of the service when the state cannot be made durable any more.
    ///
    /// Held answers are not sent then, and the process should end with the status that `body` gets.
    package func onFailure(_ body: @escaping @Sendable (Int32) -> Void) {
        stateEvents.onFailure(body)
    }

    /// Calls `body` on a thread of the service when the process gets the signal.
    ///
    /// Blocks until the signal is watched, so that a process that has logged its start can be
    /// stopped.
    package func onSignal(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        let isWatched = Semaphore()
        let isPosted = threads[0].mailbox.post { [logger] loop in
            do throws(TransportError) {
                try loop.onSignal(number, body)
            } catch {
                logger.error("Signal \(number) will not be handled: \(error)")
            }
            isWatched.signal()
        }
        // A loop that an earlier signal has ended watches nothing more.
        if isPosted { isWatched.wait() }
    }

    private static func startLoop(
        _ index: Int,
        _ store: FeedStore,
        _ context: ServiceContext,
        log: ServiceLog
    ) throws(ServiceStartError) -> EventLoopThread {
        do throws(TransportError) {
            return try EventLoopThread(
                name: "feed-loop-\(index)",
                configuration: TransportConfiguration(context.limits, clock: context.loopClock),
                budget: context.budget
            ) { loop in
                loop.context = ServiceLoop(
                    loop,
                    number: index,
                    store: store,
                    context: context,
                    log: log
                )
            }
        } catch {
            throw .transport(error)
        }
    }
}
