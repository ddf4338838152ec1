/// A name of the owner of a certificate: a URI or a DNS name from its alternative names.
package enum TLSIdentity: Sendable, Hashable {
    /// As in `spiffe://example.org/web`.
    case uri(String)
    /// As in `web.example.org`, in lower case.
    case dns(String)

    /// Reads `uri:spiffe://example.org/web` or `dns:web.example.org`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        func name(after prefix: String) -> String? {
            guard text.hasPrefix(prefix) else { return nil }
            return Self.checked(String(text.dropFirst(prefix.count)))
        }
        if let uri = name(after: "uri:") {
            self = .uri(uri)
        } else if let dns = name(after: "dns:") {
            self = .dns(dns.lowercased())
        } else {
            return nil
        }
    }

    /// The name where it can be one: printable ASCII without spaces, and not too long.
    static func checked(_ name: String) -> String? {
        let isName = name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        let count = name.utf8.count
        return isName && (1...TLSLimits.maximumIdentityByteCount).contains(count) ? name : nil
    }
}

extension TLSIdentity: CustomStringConvertible {
    /// The form that ``init(_:)`` reads.
    package var description: String {
        switch self {
        case .uri(let text): "uri:\(text)"
        case .dns(let text): "dns:\(text)"
        }
    }
}
