import FeedTransport

extension TransportConfiguration {
    /// The defaults without the deadlines that a slow machine misses: for tests of anything else.
    static var patient: TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        configuration.writeProgressTimeout = nil
        configuration.unacknowledgedTimeout = .seconds(3_600)
        return configuration
    }
}
