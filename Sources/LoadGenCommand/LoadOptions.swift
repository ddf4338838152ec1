package import ArgumentParser

/// The flags of every load as typed: the target, how requests are sent, and what is reported.
package struct LoadOptions: ParsableArguments {
    /// No flag given.
    package init() {}

    /// The service.
    @Option(
        help: """
            The server under test, as feed.example.org, 10.0.0.7:7434 or [::1]:7434; without a port that of \
            the default. (default: 127.0.0.1:7433; with --protocol resp 127.0.0.1:6379)
            """
    )
    package var target: String?
    /// Connections.
    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: "Connections, over all threads (1 to 10000)."
    )
    package var clients = "50"
    /// Event loops.
    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: "Event loops (1 to 64). (default: one per 256 clients, at most cores - 1)"
    )
    package var threads: String?
    /// Requests in flight.
    @Option(
        name: [.customShort("P"), .long],
        parsing: .unconditional,
        help: "Requests in flight on each connection (1 to 1024)."
    )
    package var pipeline = "1"
    /// Votes in a request.
    @Option(
        help: """
            Votes in each request that votes (1 to 256), sent as BatchCastVotes; 1 is CastVote. A batch \
            is one request for --rate, --requests, --pipeline and --mix, and has one latency; all \
            else counts its votes.
            """
    )
    package var batch = "1"
    /// How the pipeline is kept full.
    @Option(help: "window: each answer makes room for a request; batch: fill, then drain.")
    package var pipelineMode = "window"
    /// Requests a second.
    @Option(
        name: [.customShort("R"), .long],
        parsing: .unconditional,
        help: "Requests a second, as 50k or 0.5; 0 is a closed loop."
    )
    package var rate = "0"
    /// How an open loop is spread.
    @Option(help: "Gaps of an open loop: poisson or uniform.")
    package var arrival = "poisson"
    /// The repeatable part of chance.
    @Option(
        parsing: .unconditional,
        help: "A number, or random: the same seed gives the same requests."
    )
    package var seed = "1"
    /// How long an answer may take.
    @Option(
        parsing: .unconditional,
        help: "After this long without an answer a request's outcome is unknown."
    )
    package var timeout = "2s"
    /// How long a connection may take.
    @Option(parsing: .unconditional, help: "After this long a connection attempt has failed.")
    package var connectTimeout = "5s"
    /// How fast connections open.
    @Option(
        parsing: .unconditional,
        help: "Connections opened a second (1 to 1M), over all threads."
    )
    package var connectRate = "5k"
    /// After how many requests a connection is opened again.
    @Option(
        parsing: .unconditional,
        help: "Close each connection after this many requests and open it again; 0 is never."
    )
    package var reconnectEvery = "0"
    /// After how long a connection is opened again.
    @Option(
        parsing: .unconditional,
        help: """
            Close each connection at this age, as 30s or 30s±5s (100ms to 24h), and open it again; 0 is \
            never.
            """
    )
    package var connLife = "0"
    /// How long clients wait.
    @Option(
        parsing: .unconditional,
        help: """
            Closed loop: how long each place in a pipeline waits between its answer and its next \
            request: 5ms, exp:5ms or uniform:1ms,9ms.
            """
    )
    package var think = "0"
    /// How often a request is sent again.
    @Option(
        parsing: .unconditional,
        help: """
            Send a request again, at most this often in a row, where its connection was lost, its \
            answer did not come in time, or the service refused it for now. A vote sent again \
            counts once: the service has to support that.
            """
    )
    package var retry = "0"
    /// Who calls.
    @Option(
        help: """
            A file with the key of a service, as feed-service new-service-key writes it; without one \
            the caller's address decides whether it is a service.
            """
    )
    package var serviceKeyFile: String?
    /// Whether connections are secured.
    @Flag(help: "Secure the connections with TLS 1.3, and check the name in the certificate.")
    package var tls = false
    /// Who vouches for the service.
    @Option(help: "With --tls: a file with the certificates that vouch for the service's.")
    package var ca: String?
    /// The certificate of the load.
    @Option(help: "With --tls: a file with the certificate to show the service.")
    package var cert: String?
    /// Its key.
    @Option(help: "With --tls: a file with the private key of the certificate.")
    package var key: String?
    /// What the service is called in its certificate.
    @Option(
        help:
            "With --tls: the name or address that the certificate must have. (default: the target's)"
    )
    package var serverName: String?
    /// Whether latencies are split.
    @Flag(
        help: """
            Ask the service for its own times of one call in 64, and split their latency: on the way \
            there, executing, held until durable, and on the way back.
            """
    )
    package var split = false
    /// Where the result goes.
    @Option(help: "Write the whole result as JSON to this file, or - for standard output.")
    package var json: String?
    /// Where the page goes.
    @Option(help: "Write the report as one page of HTML with charts to this file.")
    package var html: String?
    /// What names the run.
    @Option(
        help: """
            The name of the run, which generators of one load share, so that loadgen report merges \
            their files. (default: a random one)
            """
    )
    package var runID: String?
    /// Where histograms go.
    @Option(help: "Write histograms to PREFIX.<operation>.hgrm and PREFIX.hlog.")
    package var hdr: String?
    /// What must hold.
    @Option(
        help: """
            A service level, as p99<5ms, rate>=100k, errors<0.01%, cpu<6s/M, audit=ok, or several with \
            commas.
            """
    )
    package var slo: [String] = []
    /// Whether the posts go again.
    @Flag(help: "Delete the posts that the run made, unless its audit failed.")
    package var cleanup = false
    /// Whether the run is one to compare.
    @Flag(
        help: """
            Call a run INVALID whose figures cannot be compared with another run's, and end it with \
            exit code 4.
            """
    )
    package var strict = false
    /// Whose CPU time is read.
    @Option(
        parsing: .unconditional,
        help: "The service's process, for its CPU time; auto finds it on this machine."
    )
    package var serverPID = "auto"
    /// How often there is a line.
    @Option(
        parsing: .unconditional,
        help: "A progress line this often. (default: 1s on a terminal, else none)"
    )
    package var progress: String?
    /// No line.
    @Flag(name: .shortAndLong, help: "No progress line.")
    package var quiet = false
    /// Which percentiles are printed.
    @Option(help: "The percentiles of the report.")
    package var percentiles = "50,90,99,99.9,99.99"
}
