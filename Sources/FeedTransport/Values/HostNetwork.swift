/// The hosts whose addresses begin with the same bits, as `10.0.0.0/8`; an address alone is a network of one.
package struct HostNetwork: Sendable, Hashable {
    private let first: SocketAddress.Host
    private let bitCount: Int

    /// Reads a network; the bits behind its prefix are 0.
    package init(parsing text: String) throws(TransportError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let isVersion6 = parts[0].contains(":")
        guard let host = SocketAddress.Host(parsing: String(parts[0]), isVersion6: isVersion6)
        else {
            throw .invalidAddress(text, "expected a network, as 10.0.0.0/8 or fd00::/8")
        }
        let longest = if case .v4 = host { 32 } else { 128 }
        let count = parts.count == 1 ? longest : Int(parts[1]) ?? -1
        guard (0...longest).contains(count) else {
            throw .invalidAddress(text, "the bits behind / are 0 to \(longest)")
        }
        first = host.prefix(count)
        bitCount = count
        guard first == host else {
            let start = SocketAddress(host: first, port: 0).hostText
            throw .invalidAddress(text, "the network of \(count) bits begins at \(start)")
        }
    }

    /// Whether a host is in the network.
    package func contains(_ host: SocketAddress.Host) -> Bool {
        switch (first, host) {
        case (.v4, .v4), (.v6, .v6): host.prefix(bitCount) == first
        case (.v4, .v6), (.v6, .v4): false
        }
    }
}

extension SocketAddress.Host {
    /// The address whose bits behind the first ones are 0.
    fileprivate func prefix(_ count: Int) -> Self {
        switch self {
        case .v4(let bytes): .v4(bytes & ~(UInt32.max >> count))
        case .v6(let high, let low):
            .v6(high: high & ~(UInt64.max >> count), low: low & ~(UInt64.max >> max(0, count - 64)))
        }
    }
}
