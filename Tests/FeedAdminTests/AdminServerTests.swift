import FeedAdmin
import FeedTestSupport
import FeedTransport
import Testing

/// The operator's address over TCP: pages, and clients that ask for too much.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AdminServerTests {
    static func pages(causes: [String] = []) -> AdminPages {
        AdminPages(
            metrics: { [.counter("feed_calls", "Calls.", 1)] },
            causes: { causes },
            history: History(["a"]),
            errors: { [] }
        )
    }

    /// Runs the address on a free port while `body` runs on a thread of its own.
    static func withServer(
        _ pages: AdminPages = pages(),
        clock: ManualClock? = nil,
        _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        let server = try AdminServer.start(at: [AdminDoor(.loopback(port: 0))], pages, clock: clock)
        {}
        try await offload {
            defer { server.stop() }
            try body(server.addresses[0].port)
        }
    }

    /// The answer to bytes, after which the connection ends.
    static func answer(to request: String, port: UInt16) throws -> String {
        let socket = try TestSocket(port: port)
        try socket.send(Array(request.utf8))
        return String(decoding: try socket.receiveUntilEndOfFile(), as: UTF8.self)
    }

    static func get(_ path: String, _ port: UInt16, method: String = "GET") throws -> String {
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost:9\r\nConnection: close\r\n\r\n"
        return try answer(to: head, port: port)
    }

    static func body(_ answer: String) -> Substring {
        answer.firstRange(of: "\r\n\r\n").map { answer[$0.upperBound...] } ?? ""
    }

    @Test func eachPathHasItsPage() async throws {
        try await Self.withServer { port in
            let metrics = try Self.get("/metrics", port)
            #expect(metrics.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(metrics.contains("Content-Type: text/plain; version=0.0.4"))
            #expect(Self.body(metrics).hasSuffix("feed_calls_total 1\n"))
            let asked = "Accept: application/openmetrics-text;version=1.0.0\r\n\r\n"
            let open = try Self.answer(
                to: "GET /metrics HTTP/1.0\r\nHost: localhost\r\n" + asked,
                port: port
            )
            #expect(open.contains("Content-Type: application/openmetrics-text; version=1.0.0"))
            #expect(Self.body(open).hasSuffix("feed_calls_total 1\n# EOF\n"))
            for path in ["/live", "/livez", "/healthz"] {
                #expect(Self.body(try Self.get(path, port)) == "live\n")
            }
            for path in ["/ready", "/readyz"] {
                #expect(Self.body(try Self.get(path, port)) == "ready\n")
            }
            #expect(Self.body(try Self.get("/history", port)).contains("\"rows\":[]"))
            let page = try Self.get("/", port)
            #expect(page.contains("Content-Security-Policy: default-src 'none'"))
            #expect(Self.body(page).hasSuffix("</html>\n"))
            #expect(!Self.body(page).contains("https://"))
            for path in ["/metrics/", "/%6detrics", "/../metrics", "/favicon.ico"] {
                let answer = try Self.get(path, port)
                #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
                #expect(Self.body(answer).contains("The pages are /, /metrics, "))
            }
        }
    }

    @Test func otherVerbsAreRefusedAndHeadHasNoBody() async throws {
        try await Self.withServer { port in
            for verb in ["POST", "DELETE", "OPTIONS", "get"] {
                let answer = try Self.get("/metrics", port, method: verb)
                #expect(answer.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n"))
                #expect(answer.contains("\r\nAllow: GET, HEAD\r\n"))
            }
            let head = try Self.get("/live", port, method: "HEAD")
            #expect(head.contains("\r\nContent-Length: 5\r\n") && head.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func aServiceThatIsNotReadySaysWhy() async throws {
        try await Self.withServer(Self.pages(causes: ["recovering", "x"])) { port in
            let answer = try Self.get("/ready", port)
            #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(Self.body(answer) == "not ready: recovering; x\n")
            #expect(Self.body(try Self.get("/live", port)) == "live\n")
        }
    }

    @Test func balancersLearnWhoLeads() async throws {
        try await Self.withServer { port in
            #expect(Self.body(try Self.get("/leader", port)) == "leader\n")
            let answer = try Self.get("/replica", port)
            #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(Self.body(answer) == "not replica: has no cluster\n")
        }
        var pages = Self.pages()
        pages.notLeader = { "follows a.example:7433" }
        pages.notReplica = { nil }
        let head = Array("GET /leader HTTP/1.0\r\n\r\n".utf8)
        guard case .request(let request, _) = HTTPRequest.parse(head) else {
            throw Unexpected("no request")
        }
        let told = pages.response(to: request, isAdmitted: true)
        #expect(told.body == Array("not leader: follows a.example:7433\n".utf8))
        // Who shows no key is not told whom it follows.
        let probed = pages.response(to: request, isAdmitted: false)
        #expect(probed.body == Array("not leader\n".utf8))
        try await Self.withServer(pages) { port in
            let answer = try Self.get("/replica", port)
            #expect(Self.body(answer) == "replica\n")
        }
    }

    @Test func aConnectionHasManyRequestsInAnyPieces() async throws {
        try await Self.withServer { port in
            let socket = try TestSocket(port: port)
            let request = Array("GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
            let one = try Self.answer(
                to: "GET /live HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
                port: port
            ).replacing("Connection: close\r\n", with: "")
            try socket.send(request + request)
            for byte in request { try socket.send([byte]) }
            let answers = try socket.receive(3 * one.utf8.count)
            #expect(String(decoding: answers, as: UTF8.self) == one + one + one)
        }
    }

    @Test func aWebPageOfAnotherNameReadsNothing() async throws {
        try await Self.withServer { port in
            for host in [
                "evil.example", "localhost.evil.example", "10.0.0.1", "127.0.0.256", "[::2]",
                ":", "::", ":80",
            ] {
                let answer = try Self.answer(
                    to: "GET /metrics HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n",
                    port: port
                )
                #expect(answer.hasPrefix("HTTP/1.1 421 Misdirected Request\r\n"), "\(host)")
            }
            for host in ["127.0.0.1", "127.8.9.1:80", "LOCALHOST", "[::1]", "[::1]:80"] {
                let answer = try Self.answer(
                    to: "GET /live HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n",
                    port: port
                )
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(host)")
            }
        }
    }

    @Test func tooLongHeadsAndBodiesEndTheConnection() async throws {
        try await Self.withServer { port in
            let long = String(repeating: "a", count: HTTPLimits.headByteCount)
            for (request, status) in [
                (long, "431 "), ("POST /metrics HTTP/1.1\r\nContent-Length: 9\r\n\r\n", "405 "),
                ("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", "413 "),
                ("\u{16}\u{3}\u{1}\r\n\r\n", "400 "),
            ] {
                let answer = try Self.answer(to: request, port: port)
                #expect(answer.hasPrefix("HTTP/1.1 " + status))
            }
        }
    }

    @Test func aClientThatSendsNoWholeHeadIsCutOff() async throws {
        let clock = ManualClock()
        try await Self.withServer(clock: clock) { port in
            let slow = try TestSocket(port: port)
            try slow.send(Array("GET /live HTTP/1.1\r\n".utf8))
            // Answered, so the loop has read what was sent before.
            _ = try Self.get("/live", port)
            clock.advance(by: HTTPLimits.headTimeout + .seconds(2))
            #expect(try slow.receiveUntilEndOfFile().isEmpty)
        }
    }

    @Test("senders who may not read all pages learn no causes")
    func strangersAreToldLittle() async throws {
        let door = AdminDoor(.loopback(port: 0)) { request, _ in request.bearer == "key" }
        let server = try AdminServer.start(at: [door], Self.pages(causes: ["x"])) {}
        try await offload {
            defer { server.stop() }
            let port = server.addresses[0].port
            #expect(Self.body(try Self.get("/ready", port)) == "not ready\n")
            #expect(Self.body(try Self.get("/live", port)) == "live\n")
            for path in ["/", "/metrics", "/history", "/x"] {
                let answer = try Self.get(path, port)
                #expect(answer.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"), "\(path)")
                #expect(answer.contains("\r\nWWW-Authenticate: Bearer\r\n"))
            }
            let head = "GET /metrics HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer "
            #expect(
                try Self.answer(to: head + "key\r\n\r\n", port: port).hasPrefix("HTTP/1.1 200 ")
            )
            #expect(try Self.answer(to: head + "ke\r\n\r\n", port: port).hasPrefix("HTTP/1.1 401 "))
        }
    }

    @Test("one connection more than the limit closes the one that has waited longest")
    func idleConnectionsGiveWay() async throws {
        try await Self.withServer { port in
            var sockets: [TestSocket] = []
            for _ in 0..<HTTPLimits.connectionCount {
                let socket = try TestSocket(port: port)
                try socket.send(Array("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                #expect(try !socket.receiveSome(atMost: 4_096).isEmpty)
                sockets.append(socket)
            }
            // The first asks again, so that the second has waited longest.
            try sockets[0].send(Array("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            #expect(try !sockets[0].receiveSome(atMost: 4_096).isEmpty)
            #expect(try Self.get("/live", port).hasPrefix("HTTP/1.1 200 "))
            #expect(throws: TestSocket.Failure.self) { _ = try sockets[1].receiveUntilEndOfFile() }
            for socket in [sockets[0], sockets[2]] {
                try socket.send(Array("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                #expect(try !socket.receiveSome(atMost: 4_096).isEmpty)
            }
        }
    }
}

/// Heads of requests, right, cut short and wrong.
struct HTTPRequestTests {
    static func parse(_ text: String) -> HTTPRequest.Parsing { HTTPRequest.parse(Array(text.utf8)) }

    static func status(_ text: String) -> HTTPResponse.Status? {
        guard case .refused(let response) = parse(text) else { return nil }
        return response.status
    }

    @Test func readsTheLinesOfAHead() throws {
        let text = "GET /history?after=3 HTTP/1.1\r\nHost: a:1\r\nX: y\r\n\r\n"
        for bytes in [text, text + "GET"] {
            guard case .request(let request, let byteCount) = Self.parse(bytes)
            else { throw Unexpected("\(bytes) begins with a request") }
            #expect(request.method == "GET")
            #expect(request.path == "/history")
            #expect(request.query == "after=3")
            #expect(request.host == "a:1")
            #expect(!request.isLast)
            #expect(byteCount == text.utf8.count)
        }
    }

    @Test(arguments: ["Connection: close\r\n", "connection:  x ,CLOSE \r\n"])
    func theClientEndsTheConnection(header: String) throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(header)\r\n"
        guard case .request(let request, _) = Self.parse(text)
        else { throw Unexpected("\(text) is a request") }
        #expect(request.isLast)
    }

    @Test func everyPartOfAHeadIsIncomplete() {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        for count in 0..<text.utf8.count {
            #expect(HTTPRequest.parse(Array(text.utf8.prefix(count))) == .incomplete)
        }
    }

    @Test(arguments: [
        "GET / HTTP/2.0\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", "\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nno header\r\n\r\n",
        "GET / HTTP/1.1\r\n folded: x\r\n\r\n", " / HTTP/1.1\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length\t: 0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\nY: 2\r\n\r\n", "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\rX: 1\r\n\r\n", "GET / HTTP/1.1\r\nHost: \u{0}\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n",
    ])
    func whatIsNoRequestIsRefused(text: String) {
        #expect(Self.status(text) == .badRequest)
    }

    @Test(arguments: ["Content-Length: 1", "content-length: -1", "Transfer-Encoding: chunked"])
    func bodiesAreRefused(header: String) {
        #expect(Self.status("GET / HTTP/1.1\r\nHost: a\r\n\(header)\r\n\r\n") == .contentTooLarge)
    }

    @Test func otherVerbsAreRefusedBeforeTheirBody() {
        let text = "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nsome body"
        #expect(Self.status(text) == .methodNotAllowed)
    }

    @Test(arguments: [
        ("Bearer 12ab", "12ab"), ("bearer  12ab ", "12ab"), ("Basic 12ab", ""), ("Bearer", ""),
    ])
    func aBearerShowsAKey(header: String, key: String) throws {
        let more = "Accept: a\r\naccept: b\r\n\r\n"
        let text = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: \(header)\r\n" + more
        guard case .request(let request, _) = Self.parse(text)
        else { throw Unexpected("\(text) is a request") }
        #expect(request.bearer == key)
        #expect(request.accept == "a,b")
    }

    @Test func aHeadOfNoEndIsRefusedAtTheLimit() throws {
        let long = [UInt8](repeating: 65, count: HTTPLimits.headByteCount)
        #expect(HTTPRequest.parse(long.dropLast()) == .incomplete)
        guard case .refused(let response) = HTTPRequest.parse(long)
        else { throw Unexpected("a head of 8 KiB is refused") }
        #expect(response.status == .headTooLarge)
    }

    @Test(arguments: TestEnvironment.seeds(1...200))
    func anyBytesAreReadToAnEnd(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "GET", " ", "/", "?", "HTTP/1.1", "\r\n", "\r", "\n", ":", "\u{0}", "é", "Host",
        ]
        for _ in 0..<200 {
            let text = (0..<Int.random(in: 0...20, using: &generator))
                .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &generator)] }.joined()
            _ = Self.parse(text + "\r\n\r\n")
        }
    }
}

extension HTTPRequest {
    fileprivate static func parse(_ bytes: ArraySlice<UInt8>) -> Parsing { parse(Array(bytes)) }
}
