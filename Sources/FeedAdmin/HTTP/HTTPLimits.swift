package import FeedTransport

/// Every limit of the operator's address in one place, each with its reason.
package enum HTTPLimits {
    /// The bytes of a request's head; browsers send one or two thousand.
    package static let headByteCount = 8 * 1_024

    /// The connections: some browsers, two Prometheus servers, a supervisor.
    ///
    /// One more closes the one that has waited longest for a request.
    package static let connectionCount = 16

    /// The sockets: beside the open connections as many whose TLS handshake is under way, and room for one
    /// more of each until the oldest has given way.
    ///
    /// The files that a start sets aside for the process itself have room for them.
    static let socketCount = 2 * connectionCount + 2

    /// How long a whole head may take after its first byte.
    package static let headTimeout = Duration.seconds(5)

    /// How long a connection may be silent: longer than a scrape interval.
    package static let idleTimeout = Duration.seconds(75)

    /// How long a client may take none of a page that waits for it.
    package static let writeProgressTimeout = Duration.seconds(10)

    /// The unsent bytes of a connection after which no further request of it is answered.
    package static let unsentByteCount = 256 * 1_024

    /// The limits as the transport takes them; a nil `clock` is the system's.
    package static func configuration(clock: ManualClock? = nil) -> TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.receiveBufferByteCount = 16 * 1_024
        configuration.maximumUnconsumedByteCount = headByteCount
        configuration.highWatermarkByteCount = unsentByteCount
        configuration.lowWatermarkByteCount = unsentByteCount / 4
        configuration.idleTimeout = idleTimeout
        configuration.partialReadTimeout = headTimeout
        configuration.writeProgressTimeout = writeProgressTimeout
        configuration.clock = clock
        return configuration
    }
}
