internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText

struct PingCommand: ServiceCommand {
    static let isOfOneService = true

    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Tells whether the service answers, and how soon."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let start = ContinuousClock.now
        let answer = try await client.ping()
        let roundTrip = ContinuousClock.now - start
        guard let service = client.service else { throw FeedClientError.closed }
        return Sentence.ping(service, answer, roundTrip: roundTrip)
    }
}

struct DrainCommand: ServiceCommand {
    static let isOfOneService = true

    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Stops the service: it finishes what it has received, and ends.",
        discussion: """
            The same as SIGTERM, from another machine: with the key of an operator where the service \
            has keys. A supervisor that starts the service again does so after this, too.
            """
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        try await client.drain()
        return Sentence.drain
    }
}

struct LogLevelCommand: ServiceCommand {
    static let isOfOneService = true

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
        return Sentence.logLevel(level)
    }
}

extension Sentence {
    /// `serving` is empty if the service does not say it.
    package static func ping(
        _ service: HelloResponse,
        _ answer: PingResponse,
        roundTrip: Duration
    ) -> Sentence {
        let microseconds = Int64(roundTrip / .microseconds(1))
        let end = answer.serving == .draining ? ", and is about to stop." : "."
        return Sentence(
            "\(VisibleText.line(service.serverName)) answers in \(microseconds) µs\(end)",
            [
                "server_name": service.serverName, "serving": answer.serving.argument,
                "round_trip_us": microseconds,
            ]
        )
    }

    package static let drain = Sentence(
        "The service stops: it finishes what it has received.",
        ["is_draining": true]
    )

    package static func logLevel(_ level: String) -> Sentence {
        Sentence("The log has lines of the level \(level) and above.", ["level": level])
    }
}
