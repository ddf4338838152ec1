import FeedProto

extension ClientSession.Settings {
    /// The settings of a configuration; a channel that it leaves open is drawn at random.
    init(_ configuration: ClientConfiguration) {
        hello = HelloRequest(
            clientName: configuration.clientName,
            clientID: configuration.clientID?.bytes ?? [],
            sessionToken: configuration.sessionToken?.bytes ?? [],
            serviceKey: configuration.serviceKey?.bytes ?? [],
            channel: configuration.clientID == nil
                ? 0 : configuration.channel ?? UInt32.random(in: .min ... .max)
        )
        retry = configuration.retry
        connectTimeout = configuration.connectTimeout
        waitsForService = configuration.waitsForService
    }
}
