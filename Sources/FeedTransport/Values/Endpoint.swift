/// The destination of a client's connection: an address, or the name of a host that has some.
package enum Endpoint: Sendable, Hashable {
    /// An address.
    case address(SocketAddress)
    /// A name that is looked up each time, and a port.
    case name(String, port: UInt16)

    /// Reads `127.0.0.1:7433`, `[::1]:7433`, `localhost:7433` or `feed.example.org:7433`.
    ///
    /// `localhost` is the IPv4 loopback address and is not looked up.
    package init(parsing text: String) throws(TransportError) {
        let parts = try SocketAddress.Parts(text)
        if let address = parts.address {
            self = .address(address)
        } else if !parts.isBracketed, Self.isHostName(parts.host) {
            self = .name(String(parts.host), port: parts.port)
        } else {
            let kind = parts.isBracketed ? "an IPv6 address" : "an IPv4 address or a host name"
            throw .invalidAddress(text, "\"\(parts.host)\" is not \(kind)")
        }
    }

    /// Whether a text is a name as hosts have them: labels of letters, digits, `-` and `_`, of which
    /// the last one is no number, so that a wrong IPv4 address is no name.
    private static func isHostName(_ text: Substring) -> Bool {
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard text.utf8.count <= 253, let last = labels.last else { return false }
        let isNumber = last.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return !isNumber && labels.allSatisfy(isLabel)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-")
            && label.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
                default: false
                }
            }
    }
}

extension Endpoint: CustomStringConvertible {
    /// The form that ``init(parsing:)`` reads.
    package var description: String {
        switch self {
        case .address(let address): address.description
        case .name(let name, let port): "\(name):\(port)"
        }
    }
}
