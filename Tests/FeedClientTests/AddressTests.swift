import FeedClient
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// A client of several addresses.
@Suite(.timeLimit(.minutes(10)))
struct AddressTests {
    private static func start() throws -> (server: FeedServer, address: String) {
        let server = try FeedServer.start(
            ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        return (server, try #require(server.addresses.first).description)
    }

    private static func end(_ server: FeedServer) async throws {
        server.beginDraining()
        try await offload { server.wait() }
    }

    @Test func takesTheFirstThatAnswersAndTheNextWhenItEnds() async throws {
        let nobody = try ReservedPort()
        let first = try Self.start()
        let second = try Self.start()
        let client = try await FeedClient.connect(
            to: [nobody.address, first.address, second.address],
            configuration: .patient
        )
        _ = try await client.createPost(Post(title: "Apple"))
        #expect(try await client.stats().postCount == 1)
        try await Self.end(first.server)
        #expect(try await client.stats().postCount == 0)
        #expect(await client.history()?.instanceID != client.service.instanceID)
        await client.close()
        try await Self.end(second.server)
    }

    @Test func saysWhyTheLastOneDidNotAnswer() async throws {
        let nobody = try ReservedPort()
        let error = await failure {
            try await FeedClient.connect(to: [nobody.address, nobody.address])
        }
        guard case .cannotConnect(let reason) = error else {
            Issue.record("It connected to nobody: \(String(describing: error))")
            return
        }
        #expect(reason.contains("refused"))
    }

    @Test func needsAnAddress() async {
        let error = await failure { try await FeedClient.connect(to: [String]()) }
        #expect(error == .badAddress(reason: "There is no address to connect to."))
    }

    @Test func eachTryBeginsWithTheOneThatWasReachedLast() throws {
        let endpoints = try ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"].map {
            try Endpoint(parsing: $0)
        }
        var route = Route(endpoints)
        #expect(route.begin() == endpoints[0])
        #expect(route.next() == endpoints[1])
        #expect(route.begin() == endpoints[1])
        #expect(route.next() == endpoints[2])
        #expect(route.next() == endpoints[0])
        #expect(route.next() == nil)
        #expect(route.begin() == endpoints[1])
        route.avoid()
        #expect(route.begin() == endpoints[2])
    }
}
