import FeedClient
import FeedClientTesting
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// A kind of client that the conformance suites run against.
enum ClientKind: String, CaseIterable, Sendable {
    /// `FeedClient` and a service in this process, over TCP.
    case connected
    /// The client of a service in memory.
    case inMemory
}

/// A service of either kind, and clients of it.
struct ConformanceBench {
    /// Makes a client of a device, or of none.
    let connect: (ClientID?, Secret?) async throws -> any FeedCalling

    /// A client with a device of its own.
    func device() async throws -> any FeedCalling { try await connect(ClientID(), nil) }

    /// A client without identity.
    func anonymous() async throws -> any FeedCalling { try await connect(nil, nil) }

    /// Runs a test with a service of a kind, which ends with it.
    static func run(
        _ kind: ClientKind,
        _ body: (ConformanceBench) async throws -> Void
    ) async throws {
        switch kind {
        case .inMemory:
            let service = InMemoryFeedService()
            try await body(
                ConformanceBench { try service.connect(as: $0, sessionToken: $1) }
            )
        case .connected:
            let server = try FeedServer.start(
                ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let address = try #require(server.addresses.first).description
            let clients = Locked<[FeedClient]>([])
            let bench = ConformanceBench { id, token in
                var configuration = ClientConfiguration.patient
                configuration.clientID = id
                configuration.sessionToken = token
                let client = try await FeedClient.connect(
                    to: address,
                    configuration: configuration
                )
                clients.withLock { $0.append(client) }
                return client
            }
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(bench))
            } catch {
                outcome = .failure(error)
            }
            for client in clients.withLock({ $0 }) { await client.close() }
            server.beginDraining()
            try await offload { server.wait() }
            try outcome.get()
        }
    }
}

/// The refusal that a call ends with; an issue where it ends otherwise.
func refusal<Value>(
    _ call: () async throws -> Value,
    _ location: SourceLocation = #_sourceLocation
) async -> Reason? {
    do {
        _ = try await call()
    } catch let FeedClientError.refused(status) {
        return status.reason
    } catch {
        Issue.record("The call ended with \(error).", sourceLocation: location)
        return nil
    }
    Issue.record("The call was not refused.", sourceLocation: location)
    return nil
}
