/// The head of an HTTP/1.1 request, as far as a page needs it.
package struct HTTPRequest: Equatable, Sendable {
    /// What bytes that begin a request are.
    package enum Parsing: Equatable {
        /// The head is not complete yet.
        case incomplete
        /// A request, and the bytes of its head.
        case request(HTTPRequest, byteCount: Int)
        /// No request that is served; the connection ends after the answer.
        case refused(HTTPResponse)
    }

    /// The verb, as it was sent.
    package var method: String
    package var path: String
    /// What follows the `?`; empty where nothing does.
    package var query: String
    /// The value of the header Host; empty if there is none, which only HTTP/1.0 may send.
    package var host: String
    /// The value of the header Accept; empty if there is none.
    package var accept = ""
    /// The key that the header Authorization shows as a bearer; empty if there is none.
    package var bearer = ""
    /// Whether the client wants no further answer on the connection.
    package var isLast: Bool

    /// Reads the head of a request; O(bytes), which are at most ``HTTPLimits/headByteCount`` of a head.
    package static func parse(_ bytes: [UInt8]) -> Parsing {
        guard let end = endOfHead(in: bytes.prefix(HTTPLimits.headByteCount)) else {
            guard bytes.count >= HTTPLimits.headByteCount else { return .incomplete }
            return .refused(.text(.headTooLarge, "The head exceeds 8192 bytes."))
        }
        let text = String(decoding: bytes[..<(end - 4)], as: UTF8.self)
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        // A bare LF would end a line for some programs in between, and none here.
        guard lines.allSatisfy({ $0.utf8.allSatisfy { $0 == 9 || ($0 >= 32 && $0 != 127) } }) else {
            return .refused(.text(.badRequest, "The head has a control character, or a bare LF."))
        }
        let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
            words[1].first == "/", !words[0].isEmpty
        else {
            return .refused(.text(.badRequest, "Expected GET, a path and HTTP/1.1."))
        }
        guard words[0] == "GET" || words[0] == "HEAD" else {
            return .refused(.text(.methodNotAllowed, "Pages are read with GET."))
        }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var request = HTTPRequest(
            method: String(words[0]),
            path: String(target[0]),
            query: target.count > 1 ? String(target[1]) : "",
            host: "",
            isLast: words[2] == "HTTP/1.0"
        )
        var hostCount = 0
        for line in lines {
            guard let refusal = request.take(header: line, &hostCount) else { continue }
            return .refused(refusal)
        }
        guard hostCount == 1 || (hostCount == 0 && words[2] == "HTTP/1.0") else {
            return .refused(.text(.badRequest, "Expected one header Host, got \(hostCount)."))
        }
        return .request(request, byteCount: end)
    }

    /// Takes a header line; a refusal if it is none, or announces a body.
    private mutating func take(header line: Substring, _ hostCount: inout Int) -> HTTPResponse? {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(Self.isNameByte) else {
            return .text(.badRequest, "A line of the head is no header.")
        }
        let value = parts[1].trimmed
        switch parts[0].lowercased() {
        case "host":
            host = String(value)
            hostCount += 1
        case "accept": accept += accept.isEmpty ? value : "," + value
        case "authorization":
            let words = value.split(separator: " ", maxSplits: 1)
            if words.count == 2, words[0].lowercased() == "bearer" {
                bearer = String(words[1].trimmed)
            }
        case "connection":
            if value.lowercased().split(separator: ",").contains(where: { $0.trimmed == "close" }) {
                isLast = true
            }
        case "content-length" where value != "0", "transfer-encoding":
            return .text(.contentTooLarge, "No request here has a body.")
        default: break
        }
        return nil
    }

    /// Whether the name of a header may have a byte (RFC 9110, 5.6.2).
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The place behind the empty line; nil where there is none.
    private static func endOfHead(in bytes: ArraySlice<UInt8>) -> Int? {
        var index = bytes.startIndex
        while index + 3 < bytes.endIndex {
            if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13,
                bytes[index + 3] == 10
            {
                return index + 4
            }
            index += 1
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = self
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}

/// An answer of the operator's address.
package struct HTTPResponse: Equatable, Sendable {
    /// The status of an answer: the ones that are given.
    package enum Status: String, Sendable {
        /// The page follows.
        case ok = "200 OK"
        /// The bytes are no request.
        case badRequest = "400 Bad Request"
        /// The request shows no key that may read the page.
        case unauthorized = "401 Unauthorized"
        case notFound = "404 Not Found"
        /// Pages are read only.
        case methodNotAllowed = "405 Method Not Allowed"
        /// The request announces a body.
        case contentTooLarge = "413 Content Too Large"
        /// The request names another host.
        case misdirected = "421 Misdirected Request"
        case headTooLarge = "431 Request Header Fields Too Large"
        /// The service is not ready, or has too many connections.
        case unavailable = "503 Service Unavailable"
    }

    package var status: Status
    /// The type of the body, as in Content-Type.
    package var contentType: String
    package var body: [UInt8]

    package init(_ status: Status = .ok, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// An answer of one line for people.
    package static func text(_ status: Status, _ line: String) -> Self {
        Self(status, contentType: "text/plain; charset=utf-8", body: Array("\(line)\n".utf8))
    }

    /// The bytes of the answer.
    ///
    /// A browser runs and loads nothing but what the page itself has, and keeps none of it.
    ///
    /// - Parameters:
    ///   - isLast: Whether the connection ends after it.
    ///   - hasBody: Whether the body is sent, which HEAD does not ask for.
    /// - Returns: The head, and the body behind it.
    package func encoded(isLast: Bool, hasBody: Bool = true) -> [UInt8] {
        var head = "HTTP/1.1 \(status.rawValue)\r\nContent-Type: \(contentType)\r\n"
        head += "Content-Length: \(body.count)\r\nCache-Control: no-store\r\n"
        head += "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
        head += "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; "
        head += "script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
        head += "frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n"
        if status == .methodNotAllowed { head += "Allow: GET, HEAD\r\n" }
        if status == .unauthorized { head += "WWW-Authenticate: Bearer\r\n" }
        if isLast { head += "Connection: close\r\n" }
        head += "\r\n"
        return Array(head.utf8) + (hasBody ? body : [])
    }
}
