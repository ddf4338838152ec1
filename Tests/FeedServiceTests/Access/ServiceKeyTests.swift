import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Which role a caller has where there are service keys, and what each role may do then.
@Suite(.timeLimit(.minutes(10)))
struct ServiceKeyTests {
    private static let device = [UInt8](repeating: 1, count: 16)

    private static func hello(
        _ client: WireClient,
        key: [UInt8],
        device: [UInt8] = []
    ) throws -> Status? {
        try client.call(.hello(HelloRequest(clientID: device, serviceKey: key))).status
    }

    /// The reason why CreateFeed is refused; nil where the caller is a service.
    private static func refusal(_ client: WireClient, _ name: String) throws -> Reason? {
        try client.call(.createFeed(CreateFeedRequest(feed: Feed(name: name)))).status?.reason
    }

    @Test("T-KEY-1: only who shows a key is a service, from this machine too")
    func aKeyMakesAService() async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            #expect(try Self.refusal(client, "a") == .serviceOnly)
            #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(client, "a") == nil)
            let other = try WireClient(port: port)
            #expect(try Self.hello(other, key: keys.batch.bytes, device: Self.device) == nil)
            #expect(try Self.refusal(other, "b") == nil)
            // A Hello without a key withdraws the role.
            #expect(try Self.hello(client, key: []) == nil)
            #expect(try Self.refusal(client, "c") == .serviceOnly)
        }
    }

    @Test("T-KEY-2: a wrong key of any length is refused, and the caller stays what it was")
    func refusesWrongKeys() async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            var almost = keys.web.bytes
            almost[31] ^= 1
            let wrong = [
                almost, Array(keys.web.bytes.dropLast()), keys.web.bytes + [0], [0],
                [UInt8](repeating: 7, count: 1_000_000),
            ]
            for key in wrong {
                let status = try Self.hello(client, key: key, device: Self.device)
                #expect(status?.code == .unauthenticated)
                #expect(status?.reason == .badCredentials)
                #expect(try Self.refusal(client, "a") == .serviceOnly)
                // Nor has it become a device.
                let mark = MarkPostsRequest(mark: .read, postIDs: [1])
                let marked = try client.call(.markPosts(mark)).status
                #expect(marked?.reason == .identityRequired)
            }
            #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(client, "a") == nil)
        }
    }

    @Test("T-KEY-3: a replaced key is void at once, and a kept one stays good")
    func replacesKeys() async throws {
        try await withTestKeys { port, keys in
            let old = try WireClient(port: port)
            let kept = try WireClient(port: port)
            #expect(try Self.hello(old, key: keys.web.bytes) == nil)
            #expect(try Self.hello(kept, key: keys.batch.bytes) == nil)
            let next = NewServiceKey(name: "web-next")
            keys.valid.replace(with: [next.key, keys.batch.key])
            #expect(try Self.refusal(old, "a") == .serviceOnly)
            #expect(try Self.refusal(kept, "a") == nil)
            #expect(try Self.hello(old, key: keys.web.bytes)?.reason == .badCredentials)
            #expect(try Self.hello(old, key: next.bytes) == nil)
            #expect(try Self.refusal(old, "b") == nil)
            // A key that is put back is good again for who shows it again.
            keys.valid.replace(with: [keys.web.key])
            #expect(try Self.refusal(old, "c") == .serviceOnly)
            #expect(try Self.hello(kept, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(kept, "c") == nil)
        }
    }

    @Test func withoutKeysACallerOfThisMachineMayShowAny() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            #expect(try Self.hello(client, key: [1, 2, 3]) == nil)
            #expect(try Self.refusal(client, "a") == nil)
        }
    }

    @Test(
        "T-KEY-1: without keys a caller from another address shows none that is good",
        .enabled(if: TestSocket.ownAddress != nil, "this machine has a loopback address only")
    )
    func aRemoteCallerNeedsKeysOfTheService() async throws {
        let own = try #require(TestSocket.ownAddress)
        let everywhere = SocketAddress(host: .v4(0), port: 0)
        func listen(_ configuration: inout ServiceConfiguration) {
            configuration.addresses = [everywhere]
        }
        try await withService(threads: 1, listen) { port in
            let remote = try WireClient(port: port, host: own)
            let key = NewServiceKey(name: "web").bytes
            #expect(try Self.hello(remote, key: key)?.reason == .badCredentials)
        }
    }
}
