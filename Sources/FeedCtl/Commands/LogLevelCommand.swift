internal import ArgumentParser
internal import FeedClient

/// Sets the level of the service's log.
struct LogLevelCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Sets the least level of the lines of the service's log.",
        discussion: """
            It holds until the service ends, another level is set, or SIGUSR1 switches it. It takes the \
            key of an operator where the service has keys.
            """
    )

    @Argument(help: "trace, debug, info, notice, warning, error or critical.")
    var level: String

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.setLogLevel(level)
        return LogLevelReport(level: level)
    }
}
