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
        /// There is no such page.
        case notFound = "404 Not Found"
        /// Pages are read only.
        case methodNotAllowed = "405 Method Not Allowed"
        /// The request announces a body.
        case contentTooLarge = "413 Content Too Large"
        /// The request names another host.
        case misdirected = "421 Misdirected Request"
        /// The head of the request is too long.
        case headTooLarge = "431 Request Header Fields Too Large"
        /// The service is not ready, or has too many connections.
        case unavailable = "503 Service Unavailable"
    }

    /// The status.
    package var status: Status
    /// The type of the body, as in Content-Type.
    package var contentType: String
    /// The body.
    package var body: [UInt8]

    /// An answer with a body.
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
