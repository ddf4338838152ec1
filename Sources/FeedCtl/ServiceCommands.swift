internal import ArgumentParser
internal import FeedClient
package import FeedProto
internal import FeedText

struct PingCommand: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Tells whether the service answers, and how soon."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        let start = ContinuousClock.now
        let answer = try await client.ping()
        return PingReport(client.service, answer, roundTrip: .now - start)
    }
}

struct DrainCommand: ServiceCommand {
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
        return DrainReport(isDraining: true)
    }
}

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

package struct PingReport: Report {
    private let serverName: String
    private let serving: ServingStatus
    private let roundTripMicroseconds: Int64

    package init(_ service: HelloResponse, _ answer: PingResponse, roundTrip: Duration) {
        serverName = service.serverName
        serving = answer.serving
        roundTripMicroseconds = Int64(roundTrip / .microseconds(1))
    }

    /// `serving` is empty if the service does not say it.
    package var document: Document {
        [
            "server_name": serverName, "serving": serving.argument,
            "round_trip_us": roundTripMicroseconds,
        ]
    }

    package func text(_ style: TextStyle) -> String {
        "\(VisibleText.line(serverName)) answers in \(roundTripMicroseconds) µs"
            + (serving == .draining ? ", and is about to stop.\n" : ".\n")
    }
}

package struct DrainReport: Report {
    private let isDraining: Bool

    package init(isDraining: Bool) { self.isDraining = isDraining }

    package var document: Document { ["is_draining": isDraining] }

    package func text(_ style: TextStyle) -> String {
        "The service stops: it finishes what it has received.\n"
    }
}

package struct LogLevelReport: Report {
    private let level: String

    package init(level: String) { self.level = level }

    package var document: Document { ["level": level] }

    package func text(_ style: TextStyle) -> String {
        "The log has lines of the level \(level) and above.\n"
    }
}
