package import FeedProto
internal import FeedText

/// That the service answers, as `ping` reports it.
package struct PingReport: Report, Equatable {
    let serverName: String
    /// `serving`, `draining`, or empty where the service does not say.
    let serving: String
    let roundTripUs: Int64

    /// The report of an answer.
    package init(_ service: HelloResponse, _ answer: PingResponse, roundTrip: Duration) {
        serverName = service.serverName
        serving = answer.serving.argument
        roundTripUs = Int64(roundTrip / .microseconds(1))
    }

    /// One line.
    package func text(_ style: TextStyle) -> String {
        "\(VisibleText.line(serverName)) answers in \(roundTripUs) µs"
            + (answersEnd ? ", and is about to stop.\n" : ".\n")
    }

    private var answersEnd: Bool { serving == ServingStatus.draining.argument }
}
