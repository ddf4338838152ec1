import FeedConcurrency
import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport
import Testing

/// What the operator's address of a service says while it starts, serves and drains.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OperatorAddressTests {
    static func get(_ path: String, _ port: UInt16) throws -> String {
        let socket = try TestSocket(port: port)
        try socket.send(Array("GET \(path) HTTP/1.0\r\nHost: localhost\r\n\r\n".utf8))
        return String(decoding: try socket.receiveUntilEndOfFile(), as: UTF8.self)
    }

    static func value(_ name: String, _ port: UInt16) throws -> Double? {
        try get("/metrics", port).split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }
            .flatMap { Double($0.dropFirst(name.utf8.count + 1)) }
    }

    static func start(_ configuration: ServiceConfiguration) throws -> FeedServer {
        ProcessSetup.ignoreBrokenPipes()
        return try FeedServer.startQuietly(configuration)
    }

    /// The reasons of refusals that alerts are about.
    static let alertedReasons = [
        "CLOCK_JUMPED", "INTERNAL", "NO_ROOM_FOR_POSTS", "OVERLOADED", "RATE_LIMITED", "READ_ONLY",
        "TOO_MANY_WATCHES",
    ]

    static func configuration(_ admin: SocketAddress) -> ServiceConfiguration {
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 2)
        configuration.admin = admin
        return configuration
    }

    @Test func aServiceIsReadyOnceItServesAndUntilItDrains() async throws {
        let directory = try TemporaryDirectory()
        let gate = JournalGate()
        let reserved = try ReservedPort()
        var configuration = Self.configuration(.loopback(port: reserved.number))
        configuration.state = gate.state(directory, logCount: 2)
        configuration.limits.stallLimit = .seconds(3_600)
        // The time of day is asked for before the state is opened.
        let atStart = Locked<String?>(nil)
        configuration.timeOfDay = {
            atStart.withLock { answer in
                if answer == nil { answer = try? Self.get("/ready", reserved.number) }
            }
            return 1_800_000_000_000
        }
        let server = try Self.start(configuration)
        let port = try #require(server.addresses.first?.port)
        #expect(server.adminAddress?.port == reserved.number)
        try await offload {
            #expect(atStart.withLock { $0 }?.hasSuffix("not ready: recovering\n") == true)
            #expect(try Self.get("/ready", reserved.number).hasSuffix("\r\n\r\nready\n"))
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            gate.close()
            try client.send(.castVote(CastVoteRequest(postID: post, direction: .up)))
            try gate.awaitHeldAnswer(port)
            #expect(try Self.value("feed_oldest_held_seconds", reserved.number) ?? 0 > 0)
            server.beginDraining()
            #expect(try Self.get("/ready", reserved.number).hasSuffix("not ready: draining\n"))
            #expect(try Self.value("feed_ready", reserved.number) == 0)
            #expect(try Self.get("/live", reserved.number).hasSuffix("live\n"))
            gate.open()
        }
        try await offload { server.wait() }
        #expect(throws: TestSocket.Failure.self) { try Self.get("/live", reserved.number) }
    }

    @Test func callsErrorsAndTimesAreCounted() async throws {
        let server = try Self.start(Self.configuration(.loopback(port: 0)))
        let port = try #require(server.addresses.first?.port)
        let admin = try #require(server.adminAddress?.port)
        try await offload {
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            for id in [post, post, .max] {
                _ = try client.call(.castVote(CastVoteRequest(postID: id, direction: .up)))
            }
            let votes = [post, post, post].map { CastVoteRequest(postID: $0, direction: .up) }
            _ = try client.call(.batchCastVotes(BatchCastVotesRequest(votes: votes)))
            for (name, value) in [
                ("feed_calls_total{method=\"cast_vote\"}", 3),
                ("feed_call_errors_total{method=\"cast_vote\"}", 1),
                ("feed_errors_total{reason=\"POST_NOT_FOUND\"}", 1),
                ("feed_batched_votes_total", 3),
                ("feed_call_duration_seconds_count{method=\"cast_vote\"}", 3),
                ("feed_call_duration_seconds_bucket{method=\"cast_vote\",le=\"+Inf\"}", 3),
                ("feed_connections", 1), ("feed_posts", 1), ("feed_ready", 1),
            ] as [(String, Double)] {
                #expect(try Self.value(name, admin) == value, "\(name)")
            }
            for reason in Self.alertedReasons {
                let name = "feed_errors_total{reason=\"\(reason)\"}"
                #expect(try Self.value(name, admin) == 0, "\(name)")
            }
            // In memory nothing is committed.
            #expect(try Self.value("feed_commits_total", admin) == nil)
        }
        try await server.drain()
    }

    @Test func rangesOfTimesGrowToTheCount() async throws {
        let server = try Self.start(Self.configuration(.loopback(port: 0)))
        let port = try #require(server.addresses.first?.port)
        let admin = try #require(server.adminAddress?.port)
        try await offload {
            let client = try WireClient(port: port)
            for _ in 0..<200 { _ = try client.createPost(title: "a") }
            // A call is counted behind its answer, so that the last one may not be counted yet.
            _ = try client.call(.ping(PingRequest()))
            let name = "feed_call_duration_seconds_bucket{method=\"create_post\""
            let counts = try Self.get("/metrics", admin).split(separator: "\n")
                .filter { $0.hasPrefix(name) }
                .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            #expect(counts.count == 17)
            #expect(counts == counts.sorted())
            #expect(counts.last == 200)
        }
        try await server.drain()
    }

    @Test("the end of the certificate in use is told, also after a reload")
    func theCertificateExpires() async throws {
        let made = try TestCertificates()
        let tls = try made.service(asksForCertificates: false)
        var configuration = Self.configuration(.loopback(port: 0))
        configuration.tls = tls
        let server = try Self.start(configuration)
        let admin = try #require(server.adminAddress?.port)
        try made.add(.init("server", days: 90))
        let next = try TLSContext.server(tls.files)
        let acceptor = try #require(server.tlsAcceptor)
        let times = try [tls.context, next].map { try #require($0.expiry).unixSeconds }
        #expect(times[1] - times[0] >= 60 * 86_400)
        try await offload {
            let name = "feed_tls_certificate_expiry_timestamp_seconds"
            let first = try Self.value(name, admin)
            acceptor.replace(with: next)
            let second = try Self.value(name, admin)
            #expect(first == Double(times[0]) && second == Double(times[1]))
        }
        try await server.drain()
        let plain = try Self.start(Self.configuration(.loopback(port: 0)))
        let port = try #require(plain.adminAddress?.port)
        try await offload {
            let value = try Self.value("feed_tls_certificate_expiry_timestamp_seconds", port)
            #expect(value == 0)
        }
        try await plain.drain()
    }

    @Test("lines that standard error does not take are metrics")
    func tellsOfTheLog() async throws {
        let reserved = try ReservedPort()
        let (taken, gate) = (Semaphore(), Semaphore())
        let output = OutputThread("test-log", byteLimit: 10) { _, _ in
            taken.signal()
            gate.wait()
        }
        try await withService {
            $0.admin = .loopback(port: reserved.number)
            $0.logOutput = output
        } _: { [admin = reserved.number] (_) throws in
            let name = "feed_log_waiting_seconds"
            #expect(try Self.value(name, admin) == 0)
            output.write("first")
            taken.wait()
            #expect(output.append("1234567890"))
            for _ in 0..<3 { #expect(!output.append("x")) }
            #expect(try Self.value("feed_log_left_out_lines_total", admin) == 3)
            #expect(try Self.value(name, admin) ?? 0 > 0)
            for _ in 0..<2 { gate.signal() }
            #expect(output.flush(upTo: .seconds(30)))
            #expect(try Self.value(name, admin) == 0)
        }
    }
}
