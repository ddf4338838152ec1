internal import FeedClient

/// One run, as asked for: every value is within its limits.
package struct RunConfiguration: Sendable {
    /// The address as given.
    package var target: String
    /// Connections over all threads.
    package var clientCount: Int
    /// Event loops, each with its own connections.
    package var threadCount: Int
    /// Requests in flight on a connection.
    package var pipelineDepth: Int
    /// Votes in each request that votes; 1 is votes sent alone.
    package var batchVoteCount: Int
    /// How the pipeline is kept full.
    package var pipelineMode: PipelineMode
    /// Requests a second of an open loop; nil is a closed loop.
    package var ratePerSecond: Double?
    /// How an open loop is spread over time.
    package var arrival: Arrival
    /// How long to measure; nil where a number of requests ends the run.
    package var duration: Duration?
    /// How many requests to measure; nil where time ends the run.
    package var requestCount: UInt64?
    /// How long to load the service before measuring.
    package var warmup: Duration
    /// The operations that are requested, and how often.
    package var mix: Mix
    /// Posts created before the run.
    package var postCount: Int
    /// The feed in which they are created and which pages list.
    package var feed: String
    /// How requests spread over the posts.
    package var keys: KeyDistribution
    /// Posts a page.
    package var pageSize: Int
    /// The seed that the requests are drawn from.
    package var seed: UInt64
    /// How long an answer may take.
    package var timeout: Duration
    /// How long a connection may take.
    package var connectTimeout: Duration
    /// How often in a row a request is sent again; 0 is never.
    package var retryLimit: Int
    /// Whether the service is asked at the end what it counted.
    package var isVerified: Bool
    /// The JSON report of the run to audit again, instead of a run.
    package var verifiedPath: String?
    /// The file of the JSON result, or `-`.
    package var jsonPath: String?
    /// How the names of the histogram files start.
    package var histogramPrefix: String?
    /// Whether a run whose figures cannot be compared is called INVALID.
    package var isStrict: Bool
    /// What must hold.
    package var serviceLevels: [ServiceLevel]
    /// The service's process; nil where it is to be found.
    package var serverPID: Int?
    /// How often there is a progress line; nil is never.
    package var progressInterval: Duration?
    /// Which percentiles are printed.
    package var percentiles: [Double]

    /// The most votes of a batch.
    package static let longestBatch = 256
    /// The most votes in flight, which take 4 bytes each.
    package static let mostVotesInFlight = 1 << 26

    /// After sending ends, answers may arrive for this long, or for `timeout` where that is
    /// shorter.
    package static let cooldown = Duration.seconds(1)

    /// Whether requests leave by a plan instead of when there is room for them.
    package var isOpenLoop: Bool { ratePerSecond != nil }

    /// How lost connections and refused requests are tried again.
    var retryPolicy: RetryPolicy {
        var policy = RetryPolicy()
        policy.maximumAttemptCount = retryLimit + 1
        policy.maximumRoundCount = retryLimit
        policy.maximumDelay = .milliseconds(1_500)
        policy.budgetBurst = .max
        return policy
    }
}

/// How a connection's pipeline is kept full.
package enum PipelineMode: String, Sendable, CaseIterable {
    /// Each answer makes room for a request.
    case window
    /// All requests of a batch leave together, and the next batch when all are answered.
    case batch
}
