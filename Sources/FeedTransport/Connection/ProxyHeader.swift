/// Reads the header of the PROXY protocol, of version 1 or 2, with which a proxy begins a connection that it
/// makes for a client.
///
/// ``missingByteCount`` bytes at least are still the header's, so a reader that takes no more at a time never
/// takes a byte of the client.
package struct ProxyHeader {
    package enum Source: Hashable, Sendable {
        case client(SocketAddress)
        /// Those of the proxy itself, as for a health check, or of a client without an address of TCP.
        case proxy
    }

    package enum Fault: Error, Hashable, Sendable {
        /// They begin as neither version does.
        case noHeader
        /// A line of version 1 that is not as it has to be.
        case badLine
        /// A header of version 2 with another version, command, family or length of its addresses.
        case badBlock
        case tooLong(limit: Int)
        case tooSlow
    }

    /// The longest line of version 1, by the protocol.
    private static let maximumLineByteCount = 107
    /// The longest block of version 2: the addresses, and what proxies add of a client's TLS.
    package static let maximumBlockByteCount = 2_048
    private static let line = Array("PROXY ".utf8)
    /// The first bytes of version 2.
    private static let block: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    /// The bytes of version 2 before the addresses; the shortest line has one less.
    private static let blockHeadByteCount = 16

    private var bytes: [UInt8] = []

    package init() {}

    /// The bytes that the header has at least beyond those that have come; 0 if it is whole.
    package var missingByteCount: Int {
        if bytes.count < Self.block.count { return Self.block.count - bytes.count }
        guard bytes[0] == Self.line[0] else {
            return (blockByteCount ?? Self.blockHeadByteCount) - bytes.count
        }
        if bytes.suffix(2) == [13, 10] { return 0 }
        return bytes.last == 13 ? 1 : 2
    }

    /// Adds bytes, ``missingByteCount`` at most; the source if the header is whole, else nil.
    package mutating func append(_ more: [UInt8]) throws(Fault) -> Source? {
        bytes += more
        let isLine = bytes.starts(with: Self.line.prefix(bytes.count))
        guard isLine || bytes.starts(with: Self.block.prefix(bytes.count)) else { throw .noHeader }
        let limit = isLine ? Self.maximumLineByteCount : Self.maximumBlockByteCount
        let missing = missingByteCount
        guard bytes.count + missing <= limit else { throw .tooLong(limit: limit) }
        guard missing == 0 else { return nil }
        return try isLine ? readLine() : readBlock()
    }

    /// The bytes of version 2, once its length has come.
    private var blockByteCount: Int? {
        guard bytes.count >= Self.blockHeadByteCount else { return nil }
        return Self.blockHeadByteCount + Int(bytes[14]) << 8 + Int(bytes[15])
    }

    /// `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443`, or `PROXY UNKNOWN` and anything.
    private func readLine() throws(Fault) -> Source {
        let text = String(decoding: bytes.dropLast(2), as: UTF8.self)
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        if words.count > 1, words[1] == "UNKNOWN" { return .proxy }
        guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6" else { throw .badLine }
        let isVersion6 = words[1] == "TCP6"
        let hosts = words[2...3].compactMap { word in
            SocketAddress.Host(parsing: String(word), isVersion6: isVersion6)
        }
        let ports = words[4...5].compactMap { word in
            word.utf8.allSatisfy { (48...57).contains($0) } ? UInt16(word) : nil
        }
        guard hosts.count == 2, ports.count == 2 else { throw .badLine }
        return .client(SocketAddress(host: hosts[0], port: ports[0]))
    }

    private func readBlock() throws(Fault) -> Source {
        let addresses = bytes.dropFirst(Self.blockHeadByteCount)
        switch (bytes[12], bytes[13]) {
        // LOCAL: what follows about addresses does not count.
        case (0x20, _): return .proxy
        case (0x21, 0x11) where addresses.count >= 12:
            let host = SocketAddress.Host.v4(UInt32(truncatingIfNeeded: number(16, 4)))
            return .client(SocketAddress(host: host, port: UInt16(number(24, 2))))
        case (0x21, 0x21) where addresses.count >= 36:
            let host = SocketAddress.Host(high: number(16, 8), low: number(24, 8))
            return .client(SocketAddress(host: host, port: UInt16(number(48, 2))))
        // No family, and the sockets of a machine.
        case (0x21, 0x00), (0x21, 0x31), (0x21, 0x32): return .proxy
        default: throw .badBlock
        }
    }

    /// A number of so many bytes, the first one highest.
    private func number(_ place: Int, _ count: Int) -> UInt64 {
        bytes[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ProxyHeader.Fault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noHeader: "it sent no header of the PROXY protocol."
        case .badLine: "its line of the PROXY protocol, version 1, is malformed."
        case .badBlock: "its header of the PROXY protocol, version 2, is malformed."
        case .tooLong(let limit): "its header of the PROXY protocol has more than \(limit) bytes."
        case .tooSlow: "its header of the PROXY protocol did not come in time."
        }
    }
}
