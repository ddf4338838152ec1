/// How a client introduces itself and how long it waits; the defaults suit most programs.
public struct ClientConfiguration: Sendable {
    /// The client's name and version, for the service's logs.
    public var clientName = "feed-client"

    /// The client's identity; without one the client cannot vote where votes are ballots.
    public var clientID: ClientID?

    /// How long a call without a time of its own may take.
    public var timeout = Duration.seconds(5)

    /// How long connecting and the service's introduction may take.
    public var connectTimeout = Duration.seconds(5)

    /// Silence after which the client asks the service for a sign of life.
    ///
    /// A service closes connections that were silent for 90 s, so two of these may be lost.
    public var keepAliveInterval = Duration.seconds(30)

    /// How long the sign of life may take before the connection is given up.
    public var keepAliveTimeout = Duration.seconds(10)

    /// A configuration with the defaults.
    public init() {}
}
