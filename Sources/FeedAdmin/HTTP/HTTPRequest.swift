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
    /// The path, without the query.
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
    /// The text without spaces and tabs around it.
    fileprivate var trimmed: Substring {
        var rest = self
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
