import FeedTransport

/// What one thread of the load needs to know.
struct WorkerSetup: Sendable {
    /// The run.
    var configuration: RunConfiguration
    /// Where the service listens.
    var address: SocketAddress
    /// Which thread this is.
    var thread: Int
    /// The number of its first connection over all threads.
    var firstClient: Int
    /// How many connections it has.
    var clientCount: Int
    /// The posts of the run, by their number.
    var postIDs: [UInt64]
    /// How their votes are spread.
    var keys: KeyChoice
    /// What the numbers of votes stand for.
    var tallied = Tallied.scores
    /// The votes to cast instead of a stream per connection; nil in a run with streams.
    var schedule: VoteSchedule?
    /// The identity of the run to the service; nil in a run without retries.
    var identity: RunIdentity?
    /// Reports events to the run.
    var report: @Sendable (WorkerEvent) -> Void

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
