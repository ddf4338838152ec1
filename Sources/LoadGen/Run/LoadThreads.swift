import FeedTransport

/// The threads of a load, each with its share of the connections.
///
/// The run tells them when to begin and to stop; all else it learns from their reports.
final class LoadThreads {
    private var threads: [EventLoopThread] = []
    private var workers: [LoopBound<Worker>] = []

    /// Starts a thread for each share of the connections of a run.
    ///
    /// `started` passes each worker to the run's loop, which adds it, and `report` the events of
    /// all workers.
    func start(
        _ configuration: RunConfiguration,
        _ workload: Workload,
        to address: SocketAddress,
        as identity: RunIdentity?,
        started: @escaping @Sendable (LoopBound<Worker>) -> Void,
        report: @escaping @Sendable (WorkerEvent) -> Void
    ) throws(TransportError) {
        var firstClient = 0
        for thread in 0..<configuration.threadCount {
            let setup = WorkerSetup(
                configuration,
                workload,
                address: address,
                thread: thread,
                firstClient: firstClient,
                identity: identity,
                report: report
            )
            firstClient += setup.clientCount
            try start(setup, started: started)
        }
    }

    /// Starts a thread; `started` passes the worker to the run's loop, which adds it.
    private func start(
        _ setup: WorkerSetup,
        started: @escaping @Sendable (LoopBound<Worker>) -> Void
    ) throws(TransportError) {
        let thread = try EventLoopThread(
            name: "load-\(setup.thread)",
            configuration: .load,
            budget: BufferBudget()
        ) { loop in
            let worker = Worker(setup, on: loop)
            started(LoopBound(worker, to: loop.mailbox))
            do throws(TransportError) {
                try worker.connect()
            } catch {
                setup.report(.connected(openedCount: 0, failures: Failures()))
            }
        }
        threads.append(thread)
    }

    /// Adds the worker of a started thread.
    func add(_ worker: LoopBound<Worker>) {
        workers.append(worker)
    }

    /// Begins the load.
    func begin(_ phases: Phases) {
        for worker in workers { worker.post { $0.begin(phases) } }
    }

    /// Ends the sending; answers may still come.
    func stopSending() {
        for worker in workers { worker.post { $0.stopSending(isWaiting: true) } }
    }

    /// Ends the threads, waits for their end and lets go of the workers, whose reports keep the run.
    func join() {
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
        threads = []
        workers = []
    }
}

@available(*, unavailable)
extension LoadThreads: Sendable {}

extension TransportConfiguration {
    /// A client may be silent, and a service may be slow to complete a frame; requests have
    /// timeouts.
    static var load: Self {
        var configuration = Self()
        configuration.measuresIdleTime = true
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        return configuration
    }
}
