import FeedProto

extension ClientSession.Settings {
    /// The settings of a connection of a client, which counts its connections from 0; a channel that the
    /// configuration leaves open is drawn at random.
    init(_ configuration: ClientConfiguration, connection: Int) {
        hello = HelloRequest(
            clientName: configuration.clientName,
            clientID: configuration.clientID?.bytes ?? [],
            sessionToken: configuration.sessionToken?.bytes ?? [],
            serviceKey: configuration.serviceKey?.bytes ?? [],
            channel: configuration.clientID == nil
                ? 0
                : configuration.channel.map { $0 &+ UInt32(connection) }
                    ?? UInt32.random(in: .min ... .max)
        )
        retry = configuration.retry
        connectTimeout = configuration.connectTimeout
        waitsForService = configuration.waitsForService
        reconnects = configuration.reconnects
    }
}
