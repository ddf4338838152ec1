import FeedAdmin
import FeedTestSupport
import Testing

/// Heads of requests, right, cut short and wrong.
struct HTTPRequestTests {
    static func parse(_ text: String) -> HTTPRequest.Parsing { HTTPRequest.parse(Array(text.utf8)) }

    static func status(_ text: String) -> HTTPResponse.Status? {
        guard case .refused(let response) = parse(text) else { return nil }
        return response.status
    }

    @Test func readsTheLinesOfAHead() {
        let text = "GET /history?after=3 HTTP/1.1\r\nHost: a:1\r\nX: y\r\n\r\n"
        for bytes in [text, text + "GET"] {
            guard case .request(let request, let byteCount) = Self.parse(bytes) else {
                Issue.record("\(bytes) begins with a request")
                return
            }
            #expect(request.method == "GET")
            #expect(request.path == "/history")
            #expect(request.query == "after=3")
            #expect(request.host == "a:1")
            #expect(!request.isLast)
            #expect(byteCount == text.utf8.count)
        }
    }

    @Test(arguments: ["Connection: close\r\n", "connection:  x ,CLOSE \r\n"])
    func theClientEndsTheConnection(header: String) {
        let text = "GET / HTTP/1.1\r\nHost: a\r\n\(header)\r\n"
        guard case .request(let request, _) = Self.parse(text) else {
            Issue.record("\(text) is a request")
            return
        }
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
    func aBearerShowsAKey(header: String, key: String) {
        let more = "Accept: a\r\naccept: b\r\n\r\n"
        let text = "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: \(header)\r\n" + more
        guard case .request(let request, _) = Self.parse(text) else {
            Issue.record("\(text) is a request")
            return
        }
        #expect(request.bearer == key)
        #expect(request.accept == "a,b")
    }

    @Test func aHeadOfNoEndIsRefusedAtTheLimit() {
        let long = [UInt8](repeating: 65, count: HTTPLimits.headByteCount)
        #expect(HTTPRequest.parse(long.dropLast()) == .incomplete)
        guard case .refused(let response) = HTTPRequest.parse(long) else {
            Issue.record("a head of 8 KiB is refused")
            return
        }
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
