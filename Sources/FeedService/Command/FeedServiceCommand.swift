internal import ArgumentParser
internal import FeedSettings
internal import FeedTransport
internal import Foundation
internal import Glibc
internal import Logging

@main
struct FeedServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed-service",
        abstract: "Serves posts, votes and ranked pages over TCP.",
        discussion: """
            Programs call it in length-prefixed protobuf messages: see docs/PROTOCOL.md. SIGTERM \
            finishes what was received, flushes every answer and exits with 0; a second one exits \
            at once. A host whose callers are no services creates at most 20 accounts an hour.
            """,
        version: ServiceVersion.current,
        subcommands: [
            ConfigCommand.self, VerifyCommand.self, RestoreCommand.self, NewInstanceCommand.self,
            BeginClusterCommand.self, RecoverClusterCommand.self, NewServiceKeyCommand.self,
        ]
    )

    // A value may come from a variable or a file, and alone: what goes with what is checked by
    // ServiceConfiguration, whose refusals name what has set a flag, and not in validate().

    @Option(
        "file",
        "A YAML file with a line `key: value` for each flag that is not given, as `threads: 4`. "
            + "A variable of the environment, as FEED_SERVICE_THREADS, comes before the file."
    )
    var config: String?

    @Option(
        help: ArgumentHelp(
            "An address to listen on; give it again for more. [::1]:7433 works too, port 0 takes "
                + "a free one. (default: \(ServiceConfiguration.defaultAddress), unless there is a "
                + "--listen-tls)",
            valueName: "host:port"
        )
    )
    var listen: [String] = []

    @OptionGroup var tls: TLSFlags
    @OptionGroup var proxy: ProxyFlags

    // The numbers are read as texts, "-1" among them, so that one sentence names flag and limits.
    @Option(
        parsing: .unconditional,
        help: """
            Event loops, each a thread, 1 to 256. Default: one for each core, fewer where few files \
            may be open.
            """
    )
    var threads: String?

    @Option(
        parsing: .unconditional,
        help: """
            Lock stripes of the ranking, a power of two from 1 to 4096. Default: 16, or four a \
            thread.
            """
    )
    var stripes: String?

    @OptionGroup var state: StateFlags
    @OptionGroup var limits: LimitFlags
    @OptionGroup var posts: PostFlags
    @OptionGroup var backups: BackupFlags
    @OptionGroup var cluster: ReplicaFlags
    @OptionGroup var log: LogFlags
    @OptionGroup var operation: AdminFlags

    @Flag(help: "Start an empty store with 20 posts titled with fruit names.")
    var sampleData = false

    @Flag(
        help: "Allow an address that is not loopback: unencrypted, and open to every client."
    )
    var insecure = false

    @Option(
        "file",
        "Callers that show one of these keys have its role: app, reader, service or operator. "
            + "Others may what users of an app may. SIGHUP reads the file again. (default: "
            + "every caller from a loopback address may do everything)"
    )
    var serviceKeys: String?

    func run() throws {
        ProcessSetup.openStandardStreams()
        var configuration = try ServiceConfiguration(self)
        // Only the user of the process may read the service's files.
        umask(0o077)
        if let state = configuration.state, self.state.dryRun {
            return try AcceptedLossReport.print(state)
        }
        let threshold = configuration.logThreshold
        let format = configuration.logFormat
        let output = OutputThread.log(threshold, format)
        // Before the end of the process, also where the start fails.
        defer { output.flush() }
        LoggingSystem.bootstrap { ServiceLogHandler($0, threshold, format, to: output) }
        configuration.logOutput = output
        let logger = Logger(label: "feed-service")
        configuration.supervisor = Supervisor(environment: ProcessInfo.processInfo.environment) {
            logger.warning("\($0)")
        }
        ProcessSetup.ignoreBrokenPipes()
        ProcessSetup.mapLargeAllocations()
        let server = try FeedServer.start(configuration, logger: logger)
        server.onFailure { Self.exitAtOnce(output, $0) }
        for signal in [SIGTERM, SIGINT] {
            server.onSignal(signal) { Self.stop(server, logger, output) }
        }
        watchHangUps(of: server, configuration, logger)
        configuration.supervisor.notify(.ready("Serves on \(addresses(of: server))"))
        server.onSignal(SIGUSR1) { threshold.toggle(logger) }
        logger.info("\(startLine(server, configuration))")
        if let address = server.adminAddress {
            logger.info("the operator's address is http://\(address)/")
        }
        if let address = server.adminTLSAddress {
            logger.info("the operator's address is https://\(address)/")
        }
        server.wait()
        if configuration.logsStateHash {
            logger.info("state hash \(FeedServer.hex(server.stateHash))")
        }
        logger.info("stopped")
        configuration.supervisor.flush()
    }

    /// SIGHUP reads the service keys and the TLS certificate again; without any it does nothing, and a
    /// line says so.
    ///
    /// By default the system ends a process at SIGHUP, and a supervisor takes that for a clean stop.
    /// One that came during the start has waited.
    private func watchHangUps(
        of server: FeedServer,
        _ configuration: ServiceConfiguration,
        _ logger: Logger
    ) {
        var sources: [FileReloading.Source] = []
        if let path = serviceKeys, let keys = configuration.serviceKeys {
            let takesCertificates = configuration.tls?.asksForCertificates == true
            sources.append(.keys(of: path, keys, takesCertificates: takesCertificates))
        }
        if let tls = configuration.tls, let acceptor = server.tlsAcceptor {
            sources.append(.certificate(of: tls.files, for: acceptor))
        }
        if let admin = configuration.tls?.admin, let acceptor = server.adminTLSAcceptor {
            sources.append(.certificate(of: admin.files, for: acceptor))
        }
        let reloading = FileReloading(sources, configuration.supervisor, logger: logger)
        server.onSignal(SIGHUP) { reloading.begin() }
    }

    /// The first signal drains the service, the second one ends the process at once.
    private static func stop(_ server: FeedServer, _ logger: Logger, _ output: OutputThread) {
        guard server.beginDraining() else {
            logger.warning("stopped at once, by a second signal")
            exitAtOnce(output)
        }
        logger.info("draining: connections finish what they asked for")
    }

    /// Ends the process without a drain, once the lines of the log are written that say why.
    private static func exitAtOnce(_ output: OutputThread, _ status: Int32 = 1) -> Never {
        output.flush()
        _exit(status)
    }

    private func addresses(of server: FeedServer) -> String {
        let secured = server.tlsAddresses.map { "\($0) (TLS)" }
        return (server.addresses.map(\.description) + secured).joined(separator: ", ")
    }

    private func startLine(_ server: FeedServer, _ configuration: ServiceConfiguration) -> String {
        "feed-service \(ServiceVersion.current) listening on \(addresses(of: server)): "
            + "threads \(configuration.threadCount) (\(ServiceConfiguration.coreCount) cores), "
            + "stripes \(configuration.stripeCount), "
            + "durability \(configuration.durabilityText)"
    }

    static func main() {
        // They may come before the service listens, and wait until then; else they would end it.
        let signals = [SIGHUP, SIGUSR1]
        for signal in signals { ProcessSetup.block(signal) }
        do {
            var command = try parseAsRoot()
            if !(command is Self) {
                for signal in signals { ProcessSetup.unblock(signal) }
            }
            switch command {
            case is Self: try serve(settings())
            case is ConfigCommand: try show(settings())
            default: try command.run()
            }
        } catch let error as ServiceStartError {
            // The reason is printed as a sentence, without the usage text.
            OutputThread.sayLast("feed-service: \(error)\n")
            exit(withError: ExitCode(error.exitStatus))
        } catch {
            let code = exitCode(for: error)
            // The help and the version go to standard output.
            guard !code.isSuccess else { exit(withError: error) }
            let text = fullMessage(for: error)
            if !text.isEmpty { OutputThread.sayLast("\(text)\n") }
            let isBadFlag = code == .validationFailure
            exit(withError: isBadFlag ? ExitCode(ServiceStartError.badFlagStatus) : code)
        }
    }
}

extension FeedServiceCommand {
    /// Every flag of the service; each may be set by a file and a variable, too.
    private static var flags: [SettingFlag] { SettingFlag.list(ofDump: _dumpHelp()) }

    /// The flag that names the file of settings.
    private static let fileFlag = SettingFlag("config", .single)

    /// The settings of the command line, the environment and the file that one of them names.
    static func settings() throws(ServiceStartError) -> Settings {
        do throws(SettingError) {
            return try Settings(
                flags: flags,
                commandLine: Array(CommandLine.arguments.dropFirst()),
                environment: ProcessInfo.processInfo.environment,
                prefix: ["feed", "service"],
                fileFlag: fileFlag
            ) { arguments in
                do {
                    _ = try parse(arguments)
                    return nil
                } catch {
                    return message(for: error)
                }
            }
        } catch {
            throw .badFlag(error.place, error.problem)
        }
    }

    /// Serves with these settings; a refusal of a flag names what has set it.
    static func serve(_ settings: Settings) throws {
        let command = try parse(settings.arguments)
        try naming(settings) { try command.run() }
    }

    /// Checks these settings as a start does, and prints them.
    static func show(_ settings: Settings) throws {
        let command = try parse(settings.arguments)
        try naming(settings) {
            let configuration = try ServiceConfiguration(command)
            print(
                settings.report(
                    computed: configuration.computedSettings,
                    fileFlag: fileFlag.name
                )
            )
        }
    }

    private static func naming(_ settings: Settings, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch ServiceStartError.badFlag(let flag, let problem) {
            throw ServiceStartError.badFlag(settings.place(of: flag), problem)
        }
    }
}

/// `feed-service config`: prints what stands, and where each value comes from.
///
/// The flags behind it are those of the service, which ``FeedServiceCommand`` parses and checks.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Checks the settings, and prints what stands and where each value comes from.",
        usage: "feed-service config [--config <file>] [<options of feed-service> ...]",
        discussion: """
            Give it the options of the service, which feed-service --help lists: feed-service config \
            --config feed-service.yaml --threads 2. It reads the same environment \
            (FEED_SERVICE_THREADS) and file as a start with these options, refuses what a start would \
            refuse of them, and starts nothing. What it prints may be a file for --config. Secrets are \
            in files, of which it prints the paths only.
            """
    )
}
