import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import Testing

/// Callers whose certificate has an identity that the service keys name.
@Suite(.timeLimit(.minutes(10))) struct CertificateIdentityTests {
    private static func isService(_ client: WireClient, _ feed: String) throws -> Bool {
        try client.call(.createFeed(CreateFeedRequest(feed: Feed(name: feed)))).status == nil
    }

    /// Whether a new connection with a certificate is one of a service.
    private static func isService(
        _ port: UInt16,
        _ made: TestCertificates,
        _ certificate: String,
        _ feed: String
    ) throws -> Bool {
        try isService(made.client(port: port, certificate), feed)
    }

    private static func identity(
        _ text: String,
        _ role: KeyRole,
        name: String = "shop"
    ) -> ServiceKey {
        let identity = TLSIdentity(text) ?? .dns("none")
        return ServiceKey(name: name, proof: .certificate(identity), role: role)
    }

    /// A service that asks for certificates, and those of `shop`, with two names, and of `stranger`.
    private static func withCertificates(
        _ body: @escaping @Sendable (UInt16, TestKeys, TestCertificates) throws -> Void
    ) async throws {
        let made = try TestCertificates()
        try made.add(.init("shop", alternativeNames: "DNS:Shop.Example.org,URI:spiffe://test/shop"))
        try made.add(.init("stranger", alternativeNames: "URI:spiffe://test/shop/2"))
        let tls = try made.service(asksForCertificates: true)
        func secure(_ configuration: inout ServiceConfiguration) {
            configuration.addresses = []
            configuration.tls = tls
        }
        try await withTestKeys(secure) { port, keys in try body(port, keys, made) }
    }

    @Test(
        "T-KEY-7: a certificate has a role by one of its names, and another one of the authority has none",
        arguments: ["uri:spiffe://test/shop", "dns:shop.example.org"]
    )
    func aNameOfACertificateHasARole(name: String) async throws {
        try await Self.withCertificates { port, keys, made in
            keys.valid.replace(with: [keys.web.key, Self.identity(name, .service)])
            let isShop = try Self.isService(port, made, "shop", "a")
            let isStranger = try Self.isService(port, made, "stranger", "b")
            #expect(isShop && !isStranger)
        }
    }

    @Test("the first line decides where two name one certificate")
    func theFirstLineDecides() async throws {
        try await Self.withCertificates { port, keys, made in
            let uri = Self.identity("uri:spiffe://test/shop", .reader)
            let dns = Self.identity("dns:shop.example.org", .service, name: "dns")
            keys.valid.replace(with: [uri, dns])
            let isReader = try !Self.isService(port, made, "shop", "a")
            keys.valid.replace(with: [dns, uri])
            let isService = try Self.isService(port, made, "shop", "a")
            #expect(isReader && isService)
        }
    }

    @Test("a Hello without a key leaves the certificate's role, and a key comes before it")
    func aKeyComesBeforeTheCertificate() async throws {
        try await Self.withCertificates { port, keys, made in
            let shop = Self.identity("uri:spiffe://test/shop", .service)
            keys.valid.replace(with: [shop, keys.reader.key])
            let client = try made.client(port: port, "shop")
            func hello(_ key: [UInt8]) throws -> Status? {
                try client.call(.hello(HelloRequest(serviceKey: key))).status
            }
            #expect(try hello([]) == nil)
            #expect(try Self.isService(client, "a"))
            #expect(try hello(keys.reader.bytes) == nil)
            #expect(try !Self.isService(client, "b"))
            #expect(try hello([1])?.reason == .badCredentials)
            #expect(try !Self.isService(client, "b"))
            #expect(try hello([]) == nil)
            #expect(try Self.isService(client, "b"))
            // Nor does it lose more than the key.
            #expect(try hello(keys.reader.bytes) == nil)
            keys.valid.replace(with: [shop])
            #expect(try Self.isService(client, "c"))
        }
    }

    @Test("T-KEY-3: an identity that is taken out of the file is void at once")
    func aRemovedIdentityIsVoid() async throws {
        try await Self.withCertificates { port, keys, made in
            let shop = Self.identity("uri:spiffe://test/shop", .service)
            keys.valid.replace(with: [shop])
            let client = try made.client(port: port, "shop")
            #expect(try Self.isService(client, "a"))
            keys.valid.replace(with: [Self.identity("uri:spiffe://test/shop", .reader)])
            #expect(try !Self.isService(client, "b"))
            keys.valid.replace(with: [shop])
            #expect(try Self.isService(client, "b"))
            keys.valid.replace(with: [keys.web.key])
            #expect(try !Self.isService(client, "c"))
            // Once void, it is good again for new connections.
            keys.valid.replace(with: [shop])
            #expect(try !Self.isService(client, "c"))
            #expect(try Self.isService(port, made, "shop", "c"))
        }
    }
}
