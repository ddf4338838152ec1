/// How a client introduces itself and how long it waits; the defaults suit most programs.
public struct ClientConfiguration: Sendable {
    /// The client's name and version, for the service's logs.
    public var clientName = "feed-client"

    /// Who the client is; nil is nobody, who cannot vote where votes are ballots.
    public var clientID: ClientID?

    /// How long a call may take that names no time of its own.
    public var timeout = Duration.seconds(5)

    /// How long connecting and the service's introduction may take.
    public var connectTimeout = Duration.seconds(5)

    /// Silence after which the service is asked for a sign of life.
    ///
    /// A service closes connections that were silent for 90 s, so that two of these may be lost.
    public var keepAliveInterval = Duration.seconds(30)

    /// How long that sign may take before the connection is given up.
    public var keepAliveTimeout = Duration.seconds(10)

    /// A configuration with the defaults.
    public init() {}
}
