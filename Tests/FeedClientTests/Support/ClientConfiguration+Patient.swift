import FeedClient

extension ClientConfiguration {
    /// The defaults with times that no call of a slow machine needs: for tests of anything else.
    static var patient: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.timeout = .seconds(600)
        configuration.connectTimeout = .seconds(600)
        configuration.keepAliveTimeout = .seconds(600)
        return configuration
    }
}
