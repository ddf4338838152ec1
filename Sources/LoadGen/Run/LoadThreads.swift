import FeedTransport

/// The threads of a load, each with its share of the connections.
///
/// The run tells them when to begin and to stop; all else it learns from their reports.
final class LoadThreads {
    private var threads: [EventLoopThread] = []
    private var workers: [LoopBound<Worker>] = []

    /// Starts a thread; `started` passes the worker to the run's loop, which adds it.
    func start(
        _ setup: WorkerSetup,
        _ transport: TransportConfiguration,
        started: @escaping @Sendable (LoopBound<Worker>) -> Void
    ) throws(TransportError) {
        let thread = try EventLoopThread(
            name: "load-\(setup.thread)",
            configuration: transport,
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

    /// Ends the threads and waits for their end.
    func join() {
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }
}

@available(*, unavailable)
extension LoadThreads: Sendable {}
