import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// Runs a service in this process on a free port while `body` runs on a thread of its own.
///
/// Afterwards the service is drained; a drain that does not end fails the test by its time limit.
func withService(
    threads: Int = 1,
    logger: Logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16) throws -> Void
) async throws {
    var configuration = ServiceConfiguration(
        addresses: [.loopback(port: 0)],
        threadCount: threads
    )
    configure(&configuration)
    // As the program does, because an answer to a client that is gone would end the tests.
    ProcessSetup.ignoreBrokenPipes()
    let server = try FeedServer.start(
        configuration,
        logger: logger
    )
    let port = try #require((server.addresses + server.tlsAddresses).first?.port)
    var failure: (any Error)?
    do {
        try await offload { try body(port) }
    } catch {
        failure = error
    }
    server.beginDraining()
    try await offload { server.wait() }
    if let failure { throw failure }
}
