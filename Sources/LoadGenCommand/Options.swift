package import ArgumentParser

/// The flags as typed; `RunConfiguration` says what they mean and which values they take.
package struct Options: ParsableCommand {
    /// The program's introduction in the help.
    package static let configuration = CommandConfiguration(
        commandName: "loadgen",
        abstract: "Loads the feed service, measures it, and audits what it counted.",
        discussion: """
            loadgen dataset FILE… imports files of posts and casts exactly their votes instead: see \
            loadgen dataset --help. loadgen report RUN.json… shows the results of earlier runs: see \
            loadgen report --help.
            """
    )

    /// No flag given.
    package init() {}

    /// The options among `arguments`, which do not name the program.
    package static func reading(_ arguments: [String]) throws -> Options {
        try parse(arguments)
    }

    /// The flags of every load.
    @OptionGroup package var load: LoadOptions
    /// What the server speaks.
    @Option(
        name: .customLong("protocol"),
        help: """
            feed, or resp for redis-server: a vote is ZINCRBY, a page ZREVRANGE WITHSCORES, on a \
            sorted set of the run's own.
            """
    )
    package var wireProtocol = "feed"
    /// The second server.
    @Option(
        help: """
            Measure this server, B, in turns with --target, A, and compare the two; see --rounds, \
            --slice and --aa.
            """
    )
    package var ab: String?
    /// What the second server speaks.
    @Option(help: "With --ab: the protocol of B. (default: that of A)")
    package var abProtocol: String?
    /// How often.
    @Option(
        parsing: .unconditional,
        help: "With --ab: pairs of slices of A and B (6 to 200). (default: 24)"
    )
    package var rounds: String?
    /// How long.
    @Option(
        parsing: .unconditional,
        help: "With --ab: how long a slice is measured, after half a second. (default: 3s)"
    )
    package var slice: String?
    /// How often the control.
    @Option(
        parsing: .unconditional,
        help: """
            With --ab: pairs of two slices of A, which show the noise (0, or 6 to 200). (default: 8)
            """
    )
    package var aa: String?
    /// The earlier run.
    @Option(
        help: """
            Say whether the run is faster than the one that told this file of --json, which had the \
            same load; exit code 5 if it is slower.
            """
    )
    package var compare: String?
    /// What counts as a difference.
    @Option(
        parsing: .unconditional,
        help: "With --compare or --ab: the difference that counts (0.1% to 50%). (default: 3%)"
    )
    package var compareLimit: String?
    /// The flags of several runs.
    @OptionGroup package var series: SeriesOptions
    /// The measured time.
    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: "How long to measure. (default: 10s)"
    )
    package var duration: String?
    /// The measured requests.
    @Option(
        name: [.customShort("n"), .long],
        parsing: .unconditional,
        help: "Measure this many requests instead of a time."
    )
    package var requests: String?
    /// The time before.
    @Option(
        name: .shortAndLong,
        parsing: .unconditional,
        help: """
            Load before measuring; audited, but in no statistic. (default: 2s; 1s in each run of \
            --search and --steps; 0 with --ramp)
            """
    )
    package var warmup: String?
    /// What is asked.
    @Option(help: "Weights of vote, create, list, page, get; or a preset: vote, feed.")
    package var mix = "vote=100"
    /// The posts created first.
    @Option(parsing: .unconditional, help: "Posts created before the run (1 to 10M).")
    package var posts = "1000"
    /// Where.
    @Option(
        help: """
            The feed that is used; votes must add up there (TALLY), or with --voters replace one \
            another (BALLOT). (default: one of its own, which is created if it is missing: loadgen; \
            with --voters: loadgen-ballots)
            """
    )
    package var feed: String?
    /// Who votes.
    @Option(
        parsing: .unconditional,
        help: """
            Act as a service for this many users of its own, who vote and change their ballots: 10 of \
            16 votes are up, 4 down and 2 take a vote back. At least one for each of --clients. A \
            BALLOT feed for users is created where it is missing. 0: the connections vote themselves.
            """
    )
    package var voters = "0"
    /// Which post.
    @Option(help: "Which post: uniform, zipf:S, hot:F:P, latest:S, seq, one.")
    package var keys = "zipf:0.99"
    /// How long a page is.
    @Option(parsing: .unconditional, help: "Posts a page (1 to 100).")
    package var pageSize = "20"
    /// Whether the generator is checked instead.
    @Flag(
        help: """
            Load no service: check in some 15 s whether loadgen measures right on this machine, \
            against a responder in this process with known delays and a stall of one second. Exit \
            code 4 where it does not. Of the other flags, --seed, --json and --quiet apply.
            """
    )
    package var selfCheck = false
    /// Whether the service is asked at the end what it counted.
    @Flag(inversion: .prefixedNo, help: "Ask the service at the end what it counted.")
    package var verify = true
    /// What to audit again.
    @Option(
        help: """
            Load nothing: audit again what the run told in this file of --json, as after a restart \
            of the service. Exit code 3 where an acknowledged vote is missing or counts twice, or \
            the service has another state.
            """
    )
    package var verifyOnly: String?
}

/// The flags of `loadgen dataset` as typed.
package struct DatasetOptions: ParsableCommand {
    /// The command's introduction in the help.
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

    /// No flag given.
    package init() {}

    /// The files.
    @Argument(help: "Files of posts, a feed each.")
    package var files: [String]
    /// How often.
    @Option(
        name: .customLong("repeat"),
        parsing: .unconditional,
        help: """
            Cast the votes of the files this many times over (1 to 1M), all in one random order; over \
            1,099,511,627,776 votes are refused.
            """
    )
    package var repeatCount = "1"
    /// Which columns have what.
    @Option(
        help: """
            Which columns have what, as title=Title,upvotes=score: fields are title, author, text, url, \
            thumbnail, time, comments, upvotes and downvotes.
            """
    )
    package var columns: String?
    /// How times are written.
    @Option(
        help:
            "How times are written: seconds, milliseconds, iso, or a pattern as %m/%d/%Y %H:%M (UTC)."
    )
    package var timeFormat: String?
    /// The flags of every load.
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

    /// The arguments after the program's name.
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

    /// Parses the arguments as the flags of their command.
    package func options() throws -> any ParsableCommand {
        try command.parse(arguments)
    }

    /// The message for arguments that are no flags of their command, or that ask for its help.
    package func message(for error: any Error) -> String {
        command.fullMessage(for: error)
    }

    /// Whether an error of `options()` is a request for help.
    package func isHelp(_ error: any Error) -> Bool {
        command.exitCode(for: error) == .success
    }
}
