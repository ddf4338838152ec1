import FeedClient
import FeedTLS

/// One run, as asked for: every value is within its limits.
package struct RunConfiguration: Sendable {
    package var target: String
    /// The flag that gave it, for its errors.
    var targetFlag = "--target"
    package var wireProtocol = WireProtocol.feed
    /// Connections over all threads.
    package var clientCount = 1
    package var threadCount = 1
    package var pipelineDepth = 1
    /// Votes in each request that votes; 1 is votes sent alone.
    package var batchVoteCount = 1
    package var pipelineMode = PipelineMode.window
    /// Requests a second of an open loop; nil is a closed loop.
    package var ratePerSecond: Double?
    /// How the rate of an open loop, which is then the mean, changes; nil where it does not.
    package var ramp: RateRamp?
    package var arrival = Arrival.poisson
    /// How long to measure; nil where a number of requests ends the run.
    package var duration: Duration?
    /// How many requests to measure; nil where time ends the run.
    package var requestCount: UInt64?
    /// How long to load the service before measuring.
    package var warmup = Duration.zero
    package var mix = Mix.vote
    package var postCount = 0
    /// Users for whom the connections vote; 0 where the connections vote themselves.
    package var voterCount = 0
    /// The key that shows the service who calls; nil where the caller's address decides.
    var serviceKey: Secret?
    /// The TLS of the clients that prepare the run and audit it; nil where connections are plain.
    var tls: ClientTLS?
    /// The same for the connections under load.
    var security: ClientSecurity<TLSContext>?
    /// The feed in which they are created and which pages list.
    package var feed = ""
    /// Whether the feed is loadgen's own, which is created where it is missing.
    package var usesOwnFeed = false
    package var isCleanedUp = false
    package var keys = KeyDistribution.uniform
    package var pageSize = 1
    package var repeatCount: UInt64 = 1
    package var seed: UInt64 = 1
    /// How long an answer may take.
    package var timeout = Duration.seconds(2)
    package var connectTimeout = Duration.seconds(5)
    /// How long redis-server may take for a reply before and after the load.
    package var replyTimeout = Duration.seconds(30)
    /// Connections begun a second, over all threads.
    package var connectsPerSecond = 5_000.0
    package var connectionLife = ConnectionLife()
    /// How long a client of a closed loop waits between an answer and its next request.
    package var think = ThinkTime.none
    /// How often in a row a request is sent again; 0 is never.
    package var retryLimit = 0
    /// Whether the service is asked for its own times of some calls, which split their latency.
    package var isLatencySplit = false
    /// Whether the service is asked at the end what it counted.
    package var isVerified = true
    /// The JSON report of the run to audit again, instead of a run.
    package var verifiedPath: String?
    /// The JSON report of the run to compare with; nil where none is.
    package var comparedPath: String?
    /// The difference that counts in a comparison, as a share.
    package var comparisonLimit = 0.03
    package var jsonPath: String?
    package var pagePath: String?
    /// What names the run: reports of generators that share it are merged.
    package var runID = ""
    /// How the names of the histogram files start.
    package var histogramPrefix: String?
    package var isStrict = false
    package var serviceLevels: [ServiceLevel] = []
    /// The service's process; nil where it is to be found.
    package var serverPID: Int?
    /// How often there is a progress line; nil is never.
    package var progressInterval: Duration?
    package var percentiles: [Double] = []

    /// The addresses of the services in the target, more than one of a cluster.
    package var targets: [String] { FeedClient.addresses(of: target) }

    package var hasSeveralTargets: Bool { target.contains(",") }

    /// The smallest load of `target`: votes one at a time over one connection, without an end.
    package init(target: String) {
        self.target = target
    }

    package static let longestBatch = 256
    /// The most votes in flight, which take 4 bytes each.
    package static let mostVotesInFlight = 1 << 26

    /// How often in a row a request is sent again where a cluster is loaded, unless the run says otherwise:
    /// with the waits between them some 20 s, and an election takes a second or two.
    package static let retriesInACluster = 30

    package static let mostVoters = 10_000_000
    package static let mostBallotBytes = 1 << 30

    package var mostVotersOfAClient: Int {
        VoterShare.largest(voterCount: voterCount, clientCount: clientCount)
    }

    /// The bytes in which the audit keeps the ballot of each user on each post of the run.
    package var ballotByteCount: Int {
        let voters = clientCount * mostVotersOfAClient
        let byteCount = BallotSet.byteCount(postCount: postCount)
        // The generators of a merged report may have any sum of posts.
        let (sum, isTooMuch) = voters.multipliedReportingOverflow(by: byteCount)
        return isTooMuch ? .max : sum
    }

    /// After sending ends, answers may arrive for this long, or for `timeout` where that is
    /// shorter.
    package static let cooldown = Duration.seconds(1)

    /// Whether requests leave by a plan instead of when there is room for them.
    package var isOpenLoop: Bool { ratePerSecond != nil }

    /// Takes the key in a file, as feed-service writes it; returns false where there is none.
    package mutating func readServiceKey(_ path: String) -> Bool {
        serviceKey = Secret(file: path)
        return serviceKey != nil
    }

    /// The name of a feed that `text` is, or nil where the service takes no such name.
    package static func feedName(_ text: String) -> String? {
        text.wholeMatch(of: /[a-z][a-z0-9-]{0,62}/) == nil ? nil : text
    }

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

/// The object `config` of a report.
extension RunConfiguration {
    static let members: [Member<RunConfiguration>] = [
        .usual("run_id", \.runID, .plain),
        .required("target", \.target, .plain),
        .usual("protocol", \.wireProtocol, .name),
        .required("clients", \.clientCount, .within(1...10_000_000)),
        .required("threads", \.threadCount, .within(1...64_000)),
        .required("pipeline", \.pipelineDepth, .within(1...1024)),
        .required("batch", \.batchVoteCount, .within(1...longestBatch)),
        .required("pipeline_mode", \.pipelineMode, .name),
        .written("loop") { $0.isOpenLoop ? "open" : "closed" },
        .optional("rate", \.ratePerSecond, .within(0...1e10)),
        .required("arrival", \.arrival, .name),
        .optional("duration_seconds", \.duration, .seconds(0...86_400)),
        ramp,
        .optional("requests", \.requestCount, .count),
        .required("warmup_seconds", \.warmup, .seconds(0...3600)),
        .required("mix", \.mix, .text(Mix.init(parsing:))),
        .required("posts", \.postCount, .within(0...10_000_000_000)),
        .required("feed", \.feed, .plain),
        .required("voters", \.voterCount, .within(0...mostVoters)),
        .written("ballot_bytes") { $0.ballotByteCount },
        .required("keys", \.keys, .text(KeyDistribution.init(parsing:))),
        .usual("percentiles", \.percentiles, .each(0...100)),
        .required("page_size", \.pageSize, .within(1...100)),
        .required("seed", \.seed, .plain),
        .required("timeout_seconds", \.timeout, .seconds(0...60)),
        .required("retry", \.retryLimit, .within(0...1000)),
        .usual("think", \.think, .text { ThinkTime(parsing: $0) ?? ThinkTime.none }),
        .written("connect_rate") { $0.connectsPerSecond },
        .optional("reconnect_every", \.connectionLife.requestCount, .within(0...1_000_000_000)),
        .optional("connection_life_seconds", \.connectionLife.age, .seconds(0...86_400)),
        .usual("split", \.isLatencySplit, .plain),
        .required("verify", \.isVerified, .plain),
        .usual("strict", \.isStrict, .plain),
    ]

    /// The rates at the ends, over the duration, which is read before.
    private static let ramp = Member<RunConfiguration>(
        write: { configuration, writer in
            let rates = configuration.ramp.map { [$0.first, $0.last] }
            try writer.encode(OrNull(rates), forKey: "ramp")
        },
        read: { configuration, reader in
            guard try reader.has("ramp") else { return }
            let rates = try Form<[Double]>.each(0...1e10).read("ramp", reader)
            guard rates.count == 2, rates != [0, 0], let length = configuration.duration
            else { return }
            configuration.ramp = RateRamp(from: rates[0], to: rates[1], over: length)
        }
    )
}

package enum PipelineMode: String, Sendable, CaseIterable {
    /// Each answer makes room for a request.
    case window
    /// All requests of a batch leave together, and the next batch when all are answered.
    case batch
}

extension RunConfiguration {
    /// The run id that `text` is, or nil: 1 to 64 letters, digits, `-` and `_`.
    package static func runID(_ text: String) -> String? {
        text.wholeMatch(of: /[a-zA-Z0-9_-]{1,64}/) == nil ? nil : text
    }

    package static func randomRunID() -> String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Secures the connections of the run with TLS 1.3; returns why the files are refused, else nil.
    ///
    /// - Parameters:
    ///   - authorityPath: The certificates that vouch for the service's; nil takes the system's.
    ///   - certificatePath: The certificate to show the service; nil is none.
    ///   - keyPath: Its private key.
    ///   - serverName: The name that the service's certificate must have; nil is the target's host.
    /// - Returns: A sentence, or nil where the files are taken.
    package mutating func secure(
        authorityPath: String?,
        certificatePath: String?,
        keyPath: String?,
        serverName: String?
    ) -> String? {
        let tls = ClientTLS(
            authorityPath: authorityPath,
            certificatePath: certificatePath,
            keyPath: keyPath,
            serverName: serverName
        )
        do throws(FeedClientError) {
            security = try ClientSecurity(tls)
        } catch {
            return error.cause
        }
        self.tls = tls
        return nil
    }
}

/// The protocol that a run speaks with the server, as `--protocol` names it.
package enum WireProtocol: String, Sendable, CaseIterable {
    case feed
    /// RESP2, the protocol of redis-server: posts are the members of a sorted set.
    case resp

    /// The address of a server as it is typed, with the protocol's usual port where it has none; the
    /// usual server of this machine where nothing is typed.
    ///
    /// Several have commas between them.
    package func address(of target: String?) -> String {
        FeedClient.addresses(of: target, usual: usualTarget).joined(separator: ",")
    }

    private var usualTarget: String {
        switch self {
        case .feed: FeedClient.defaultAddress
        case .resp: "127.0.0.1:6379"
        }
    }
}

/// The identity of a run with retries, so that a request sent twice is executed once.
package struct RunIdentity: Sendable {
    /// The client id, unique to this run and never from its seed.
    let clientID: ClientID
    /// The state that the service had when the run began; another state has none of the run's
    /// votes.
    let instanceID: UInt64

    /// The most requests in flight on a channel: the service remembers that many sequences.
    package static let longestPipeline = 256

    static let controlChannel: UInt32 = 0

    static func channel(client: Int) -> UInt32 { UInt32(client + 1) }
}
