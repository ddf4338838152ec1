package import ArgumentParser
internal import LoadGen

/// The flags as typed; `RunConfiguration` says what they mean and which values they take.
package struct Options: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "loadgen",
        abstract: "Loads the feed service, measures it, and audits what it counted.",
        discussion: """
            loadgen dataset FILE… imports files of posts and casts exactly their votes instead: see \
            loadgen dataset --help. loadgen report RUN.json… shows the results of earlier runs: see \
            loadgen report --help.
            """
    )

    package init() {}

    /// The options among `arguments`, which do not name the program.
    package static func reading(_ arguments: [String]) throws -> Options {
        try parse(arguments)
    }

    @OptionGroup package var load: LoadOptions
    @Option(
        name: .customLong("protocol"),
        help: """
            feed, or resp for redis-server: a vote is ZINCRBY, a page ZREVRANGE WITHSCORES, on a \
            sorted set of the run's own.
            """
    )
    package var wireProtocol = "feed"
    @Option(
        help: """
            Measure this server, B, in turns with --target, A, and compare the two; see --rounds, \
            --slice and --aa.
            """
    )
    package var ab: String?
    @Option(help: "With --ab: the protocol of B. (default: that of A)")
    package var abProtocol: String?
    @Option(anyValue: "With --ab: pairs of slices of A and B (6 to 200). (default: 24)")
    package var rounds: String?
    @Option(anyValue: "With --ab: how long a slice is measured, after half a second. (default: 3s)")
    package var slice: String?
    @Option(
        anyValue: """
            With --ab: pairs of two slices of A, which show the noise (0, or 6 to 200). (default: 8)
            """
    )
    package var aa: String?
    @Option(
        help: """
            Say whether the run is faster than the one that told this file of --json, which had the \
            same load; exit code 5 if it is slower.
            """
    )
    package var compare: String?
    @Option(
        anyValue: "With --compare or --ab: the difference that counts (0.1% to 50%). (default: 3%)"
    )
    package var compareLimit: String?
    @OptionGroup package var series: SeriesOptions
    @Option(name: .shortAndLong, anyValue: "How long to measure. (default: 10s)")
    package var duration: String?
    @Option(
        name: [.customShort("n"), .long],
        anyValue: "Measure this many requests instead of a time."
    )
    package var requests: String?
    @Option(
        name: .shortAndLong,
        anyValue: """
            Load before measuring; audited, but in no statistic. (default: 2s; 1s in each run of \
            --search and --steps; 0 with --ramp)
            """
    )
    package var warmup: String?
    @Option(help: "Weights of vote, create, list, page, get; or a preset: vote, feed.")
    package var mix = "vote=100"
    @Option(anyValue: "Posts created before the run (1 to 10M).")
    package var posts = "1000"
    @Option(
        help: """
            The feed that is used; votes must add up there (TALLY), or with --voters replace one \
            another (BALLOT). (default: one of its own, which is created if it is missing: loadgen; \
            with --voters: loadgen-ballots)
            """
    )
    package var feed: String?
    @Option(
        anyValue: """
            Act as a service for this many users of its own, who vote and change their ballots: 10 of \
            16 votes are up, 4 down and 2 take a vote back. At least one for each of --clients. A \
            BALLOT feed for users is created where it is missing. 0: the connections vote themselves.
            """
    )
    package var voters = "0"
    @Option(help: "Which post: uniform, zipf:S, hot:F:P, latest:S, seq, one.")
    package var keys = "zipf:0.99"
    @Option(anyValue: "Posts a page (1 to 100).")
    package var pageSize = "20"
    @Flag(
        help: """
            Load no service: check in some 15 s whether loadgen measures right on this machine, \
            against a responder in this process with known delays and a stall of one second. Exit \
            code 4 where it does not. Of the other flags, --seed, --json and --quiet apply.
            """
    )
    package var selfCheck = false
    @Flag(inversion: .prefixedNo, help: "Ask the service at the end what it counted.")
    package var verify = true
    @Option(
        help: """
            Load nothing: audit again what the run told in this file of --json, as after a restart \
            of the service. Exit code 3 where an acknowledged vote is missing or counts twice, or \
            the service has another state.
            """
    )
    package var verifyOnly: String?
}

package struct DatasetOptions: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "loadgen dataset",
        abstract: "Imports files of posts, casts exactly the votes they record, and audits.",
        discussion: """
            Each file of comma-separated values fills a feed named after it, which must be empty or \
            is created. Its first line names the columns: title, and as far as there are any \
            author, selftext, url, thumbnail, created_utc, num_comments, ups or score, and downs. The \
            votes of all posts are cast in one random order over all clients.
            """
    )

    package init() {}

    @Argument(help: "Files of posts, a feed each.")
    package var files: [String]
    @Option(
        name: .customLong("repeat"),
        anyValue: """
            Cast the votes of the files this many times over (1 to 1M), all in one random order; over \
            1,099,511,627,776 votes are refused.
            """
    )
    package var repeatCount = "1"
    @Option(
        help: """
            Which columns have what, as title=Title,upvotes=score: fields are title, author, text, url, \
            thumbnail, time, comments, upvotes and downvotes.
            """
    )
    package var columns: String?
    @Option(
        help:
            "How times are written: seconds, milliseconds, iso, or a pattern as %m/%d/%Y %H:%M (UTC)."
    )
    package var timeFormat: String?
    @OptionGroup package var load: LoadOptions
}

/// The arguments after the program's name: the command that they name, and the arguments of that
/// command.
///
/// The commands share names of flags, so each parses its own arguments only. As subcommands of one
/// parser, the first would take the flags that it knows from the arguments of the second.
package struct CommandLineArguments {
    private let command: any ParsableCommand.Type
    private let arguments: [String]

    package init(_ arguments: [String]) {
        let named: (any ParsableCommand.Type)? =
            switch arguments.first {
            case "dataset": DatasetOptions.self
            case "report": ReportOptions.self
            default: nil
            }
        command = named ?? Options.self
        self.arguments = Array(named == nil ? arguments[...] : arguments.dropFirst())
    }

    package func options() throws -> any ParsableCommand {
        try command.parse(arguments)
    }

    /// The message for arguments that are no flags of their command, or that ask for its help.
    package func message(for error: any Error) -> String {
        command.fullMessage(for: error)
    }

    package func isHelp(_ error: any Error) -> Bool {
        command.exitCode(for: error) == .success
    }
}

/// The flags of every load as typed: the target, how requests are sent, and what is reported.
package struct LoadOptions: ParsableArguments {
    package init() {}

    @Option(
        help: """
            The server under test, as feed.example.org, 10.0.0.7:7434 or [::1]:7434; without a port that of \
            the default; those of a cluster with commas between them. (default: 127.0.0.1:7433; with \
            --protocol resp 127.0.0.1:6379)
            """
    )
    package var target: String?
    @Option(name: .shortAndLong, anyValue: "Connections, over all threads (1 to 10000).")
    package var clients = "50"
    @Option(
        name: .shortAndLong,
        anyValue: "Event loops (1 to 64). (default: one per 256 clients, at most cores - 1)"
    )
    package var threads: String?
    @Option(
        name: [.customShort("P"), .long],
        anyValue: "Requests in flight on each connection (1 to 1024)."
    )
    package var pipeline = "1"
    @Option(
        help: """
            Votes in each request that votes (1 to 256), sent as BatchCastVotes; 1 is CastVote. A batch \
            is one request for --rate, --requests, --pipeline and --mix, and has one latency; all \
            else counts its votes.
            """
    )
    package var batch = "1"
    @Option(help: "window: each answer makes room for a request; batch: fill, then drain.")
    package var pipelineMode = "window"
    @Option(
        name: [.customShort("R"), .long],
        anyValue: "Requests a second, as 50k or 0.5; 0 is a closed loop."
    )
    package var rate = "0"
    @Option(help: "Gaps of an open loop: poisson or uniform.")
    package var arrival = "poisson"
    @Option(anyValue: "A number, or random: the same seed gives the same requests.")
    package var seed = "1"
    @Option(anyValue: "After this long without an answer a request's outcome is unknown.")
    package var timeout = "2s"
    @Option(anyValue: "After this long a connection attempt has failed.")
    package var connectTimeout = "5s"
    @Option(anyValue: "Connections opened a second (1 to 1M), over all threads.")
    package var connectRate = "5k"
    @Option(
        anyValue: "Close each connection after this many requests and open it again; 0 is never."
    )
    package var reconnectEvery = "0"
    @Option(
        anyValue: """
            Close each connection at this age, as 30s or 30s±5s (100ms to 24h), and open it again; 0 is \
            never.
            """
    )
    package var connLife = "0"
    @Option(
        anyValue: """
            Closed loop: how long each place in a pipeline waits between its answer and its next \
            request: 5ms, exp:5ms or uniform:1ms,9ms.
            """
    )
    package var think = "0"
    @Option(
        anyValue: """
            Send a request again, at most this often in a row, where its connection was lost, its \
            answer did not come in time, or the service refused it for now. A vote sent again \
            counts once: the service has to support that. (default: 0; \
            \(RunConfiguration.retriesInACluster) where --target has several services)
            """
    )
    package var retry: String?
    @Option(
        help: """
            A file with the key of a service, as feed-service new-service-key writes it; without one \
            the caller's address decides whether it is a service.
            """
    )
    package var serviceKeyFile: String?
    @Flag(help: "Secure the connections with TLS 1.3, and check the name in the certificate.")
    package var tls = false
    @Option(help: "With --tls: a file with the certificates that vouch for the service's.")
    package var ca: String?
    @Option(help: "With --tls: a file with the certificate to show the service.")
    package var cert: String?
    @Option(help: "With --tls: a file with the private key of the certificate.")
    package var key: String?
    @Option(
        help:
            "With --tls: the name or address that the certificate must have. (default: the target's)"
    )
    package var serverName: String?
    @Flag(
        help: """
            Ask the service for its own times of one call in 64, and split their latency: on the way \
            there, executing, held until durable, and on the way back.
            """
    )
    package var split = false
    @Option(help: "Write the whole result as JSON to this file, or - for standard output.")
    package var json: String?
    @Option(help: "Write the report as one page of HTML with charts to this file.")
    package var html: String?
    @Option(
        help: """
            The name of the run, which generators of one load share, so that loadgen report merges \
            their files. (default: a random one)
            """
    )
    package var runID: String?
    @Option(help: "Write histograms to PREFIX.<operation>.hgrm and PREFIX.hlog.")
    package var hdr: String?
    @Option(
        help: """
            A service level, as p99<5ms, rate>=100k, errors<0.01%, cpu<6s/M, audit=ok, or several with \
            commas.
            """
    )
    package var slo: [String] = []
    @Flag(help: "Delete the posts that the run made, unless its audit failed.")
    package var cleanup = false
    @Flag(
        help: """
            Call a run INVALID whose figures cannot be compared with another run's, and end it with \
            exit code 4.
            """
    )
    package var strict = false
    @Option(anyValue: "The service's process, for its CPU time; auto finds it on this machine.")
    package var serverPID = "auto"
    @Option(anyValue: "A progress line this often. (default: 1s on a terminal, else none)")
    package var progress: String?
    @Flag(name: .shortAndLong, help: "No progress line.")
    package var quiet = false
    @Option(help: "The percentiles of the report.")
    package var percentiles = "50,90,99,99.9,99.99"
}

package struct ReportOptions: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "loadgen report",
        abstract:
            "Shows the results of earlier runs: one, several merged, or several side by side.",
        discussion: """
            Each file is one of --json. Files of one run, which several generators loaded together \
            (--run-id), are merged: histograms are added, so that the percentiles are exact. Files of \
            different runs are shown side by side.
            """
    )

    package init() {}

    @Argument(help: "The JSON reports of runs.")
    package var files: [String]
    @Option(help: "Write the report as one page of HTML with charts to this file.")
    package var html: String?
    @Option(
        help: "Write the merged result of one run as JSON to this file, or - for standard output."
    )
    package var json: String?
}

/// The flags that ask for several runs, or for a rate that changes.
package struct SeriesOptions: ParsableArguments {
    package init() {}

    @Option(
        help: """
            Look for the highest rate that keeps service levels, as p99<5ms or p99<5ms,errors<0.1%: \
            doubled until a trial fails, then bisected, then confirmed.
            """
    )
    package var search: String?
    @Option(anyValue: "With --search: the first rate. (default: a tenth of a closed loop of 3s)")
    package var searchFrom: String?
    @Option(anyValue: "With --search: how close to look (0.1% to 50%).")
    package var searchPrecision = Self.usualPrecision
    @Option(anyValue: "With --search: how long a trial measures.")
    package var searchTrial = Self.usualTrial
    @Option(help: "With --search: how many trials of what length confirm a rate; most must pass.")
    package var searchConfirm = Self.usualConfirmation
    @Option(help: "Runs at S rates from A to B requests a second, each measured for D: A:B:S:D.")
    package var steps: String?
    @Option(help: "With --steps: given or shuffled.")
    package var stepsOrder = Self.usualOrder
    @Option(help: "One run whose rate changes evenly from A to B requests a second over D: A:B:D.")
    package var ramp: String?
    @Option(
        anyValue: "Make the run this often (1 to 1000), and report the mean and its 95% interval."
    )
    package var runs = "1"
    @Option(
        anyValue:
            "With --runs: a command of the shell between two runs, which starts the service again."
    )
    package var restartCmd: String?

    static let usualPrecision = "2%"
    static let usualTrial = "5s"
    static let usualConfirmation = "3x20s"
    static let usualOrder = "given"
}

extension Option {
    /// An option that takes the next argument as it is, also -1: the error then names the flag and what it
    /// expects.
    fileprivate init(
        wrappedValue: String,
        name: NameSpecification = .long,
        anyValue help: ArgumentHelp
    ) where Value == String {
        self.init(wrappedValue: wrappedValue, name: name, parsing: .unconditional, help: help)
    }

    fileprivate init(
        name: NameSpecification = .long,
        anyValue help: ArgumentHelp
    ) where Value == String? {
        self.init(name: name, parsing: .unconditional, help: help)
    }
}
