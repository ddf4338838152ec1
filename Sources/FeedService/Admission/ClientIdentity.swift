package import FeedTransport

/// A caller as limits count it: the key that it has shown, or else its host.
///
/// A host is an IPv4 address, or a network of IPv6: a client with one IPv6 address usually has all 2^64
/// addresses of its network.
package enum ClientIdentity: Hashable, Sendable {
    /// An IPv4 address, the first byte highest; also where it is written as one of IPv6.
    case address(UInt32)
    /// The first 64 bits of an IPv6 address.
    case network(UInt64)
    /// The number of a key, which it keeps as long as it is valid.
    case key(UInt32)
    /// The hosts of channels that an earlier run of the service has left.
    case earlierRun
    /// A device, by the first and the last eight bytes of its client_id: for the limits of posts only.
    case device(UInt64, UInt64)
    /// A user, by its id: for the limits of posts only.
    case user(UInt64)

    /// The host that a connection comes from.
    package init(_ host: SocketAddress.Host) {
        switch host {
        case .v4(let bytes): self = .address(bytes)
        case .v6(0, let low) where low >> 32 == 0xFFFF:
            self = .address(UInt32(truncatingIfNeeded: low))
        case .v6(let high, _): self = .network(high)
        }
    }

    /// The number of a key; nil for a host.
    var keyNumber: UInt32? { if case .key(let number) = self { number } else { nil } }

    /// The host, an IPv6 one as the network that counts; empty for what is no host.
    var hostText: String {
        switch self {
        case .address(let bytes): SocketAddress(host: .v4(bytes), port: 0).hostText
        case .network(let high):
            SocketAddress(host: .v6(high: high, low: 0), port: 0).hostText + "/64"
        case .key, .earlierRun, .device, .user: ""
        }
    }
}

extension ClientIdentity {
    /// The host of an IPv4 address, or the network of an IPv6 one, also with `/64`; nil where the text is
    /// neither.
    init?(host text: String) {
        let host = text.hasSuffix("/64") && text.contains(":") ? text.dropLast(3) : text[...]
        let address = host.contains(":") ? "[\(host)]:0" : "\(host):0"
        guard let address = try? SocketAddress(parsing: address) else { return nil }
        self.init(address.host)
    }
}
