import FeedClient
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// Runs a service in this process and a client of it while `body` runs; ends both in good order.
func withClient(
    threads: Int = 1,
    _ configuration: ClientConfiguration = .patient,
    _ body: (FeedClient) async throws -> Void
) async throws {
    let server = try FeedServer.startQuietly(threads: threads)
    let address = try #require(server.addresses.first).description
    var failure: (any Error)?
    do {
        let client = try await FeedClient.connect(to: address, configuration: configuration)
        do { try await body(client) } catch { failure = error }
        await client.close()
    } catch {
        failure = error
    }
    try await server.drain()
    if let failure { throw failure }
}

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

extension FeedServer {
    /// Starts a service that logs nothing.
    static func startQuietly(port: UInt16 = 0, threads: Int = 1) throws -> FeedServer {
        try start(
            ServiceConfiguration(addresses: [.loopback(port: port)], threadCount: threads),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    /// Ends the service in good order, and waits for its end off the threads of tasks.
    func drain() async throws {
        beginDraining()
        try await offload { self.wait() }
    }
}
