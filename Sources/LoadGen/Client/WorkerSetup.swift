import FeedTransport

/// What one thread of the load needs to know.
struct WorkerSetup: Sendable {
    /// The run.
    let configuration: RunConfiguration
    /// What the threads request.
    let workload: Workload
    /// Where the service listens.
    let address: SocketAddress
    /// Which thread this is.
    let thread: Int
    /// The number of its first connection over all threads.
    let firstClient: Int
    /// How many connections it has.
    let clientCount: Int
    /// The votes to cast instead of a stream per connection; nil in a run with streams.
    let schedule: VoteSchedule?
    /// The identity of the run to the service; nil in a run without retries.
    let identity: RunIdentity?
    /// Reports events to the run.
    let report: @Sendable (WorkerEvent) -> Void

    /// Thread number `thread` of a run, with its share of the connections and of the planned votes.
    init(
        _ configuration: RunConfiguration,
        _ workload: Workload,
        address: SocketAddress,
        thread: Int,
        firstClient: Int,
        identity: RunIdentity?,
        report: @escaping @Sendable (WorkerEvent) -> Void
    ) {
        self.configuration = configuration
        self.workload = workload
        self.address = address
        self.thread = thread
        self.firstClient = firstClient
        self.identity = identity
        self.report = report
        let (share, rest) = configuration.clientCount
            .quotientAndRemainder(dividingBy: configuration.threadCount)
        clientCount = share + (thread < rest ? 1 : 0)
        schedule = workload.schedule(
            thread: thread,
            of: configuration.threadCount,
            seed: configuration.seed
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

/// What a thread of the load reports to the run.
enum WorkerEvent: Sendable {
    /// Each connection has opened or failed.
    case connected(openedCount: Int, failures: Failures)
    /// Interval `number` has ended.
    case interval(Int, endNanoseconds: UInt64, IntervalCounts)
    /// Nothing is in flight and nothing more will be sent.
    case finished(WorkerResult)
}

/// The results of one thread of the load.
struct WorkerResult: Sendable {
    /// The numbers of its requests.
    var totals: RecorderTotals
    /// What it knows of the votes, by the number of the post.
    var tallies: [VoteTally]
    /// What else it knows for the audit.
    var counts: AuditCounts
    /// Connections that ended before the load did, or never opened.
    var lostConnectionCount: Int
    /// The share of the measured time that the loop slept; nil where nothing was measured.
    var loopIdleShare: Double?
    /// When the measured time ended for this thread.
    var endNanoseconds: UInt64
}
