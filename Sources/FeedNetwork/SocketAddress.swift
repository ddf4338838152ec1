#if canImport(Darwin)
package import Darwin
#else
package import Glibc
#endif

package struct SocketAddress: Sendable, Hashable {
    /// The address without the port, in network order.
    package enum Host: Sendable, Hashable {
        /// Four bytes, the first one highest.
        case v4(UInt32)
        /// Sixteen bytes, the first one highest; never an IPv4-mapped address.
        case v6(high: UInt64, low: UInt64)

        /// The host of an IPv6 address; `::ffff:127.0.0.1`, which is IPv4-mapped, is `127.0.0.1`.
        ///
        /// The IPv6 sockets here take no IPv4 connections and cannot use such an address: the
        /// system answers EINVAL.
        package init(high: UInt64, low: UInt64) {
            let isMapped = high == 0 && low >> 32 == 0xffff
            self = isMapped ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high: high, low: low)
        }

        /// Whether only this machine has the address.
        package var isLoopback: Bool {
            switch self {
            case .v4(let bytes): bytes >> 24 == 127
            case .v6(let high, let low): high == 0 && low == 1
            }
        }
    }

    package var host: Host
    /// The port; 0 lets the kernel choose one when listening.
    package var port: UInt16

    package init(host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    package static func loopback(port: UInt16) -> Self { Self(host: .v4(0x7f00_0001), port: port) }

    package var isLoopback: Bool { host.isLoopback }
}

extension SocketAddress: CustomStringConvertible {
    /// The form that ``init(parsing:)`` reads.
    package var description: String {
        switch host {
        case .v4: "\(hostText):\(port)"
        case .v6: "[\(hostText)]:\(port)"
        }
    }
}

extension SocketAddress {
    /// Reads `127.0.0.1:7433`, `[::1]:7433` or `localhost:7433`; other names are not looked up.
    ///
    /// `[::ffff:127.0.0.1]:7433` is `127.0.0.1:7433`.
    package init(parsing text: String) throws(TransportError) {
        let parts = try Parts(text)
        guard let address = parts.address else {
            let kind = parts.isBracketed ? "an IPv6 address" : "an IPv4 address or localhost"
            throw .invalidAddress(text, "\"\(parts.host)\" is not \(kind)")
        }
        self = address
    }

    fileprivate struct Parts {
        /// The host without its brackets.
        let host: Substring
        /// Whether the host stood in brackets, as IPv6 addresses do.
        let isBracketed: Bool
        let port: UInt16

        init(_ text: String) throws(TransportError) {
            let (hostText, portText) = try Self.split(text)
            guard let port = Self.port(portText) else {
                throw .invalidAddress(text, "the port must be a number from 0 to 65535")
            }
            host = hostText
            isBracketed = text.hasPrefix("[")
            self.port = port
        }

        /// The address, if the host is one or `localhost`.
        var address: SocketAddress? {
            if host == "localhost", !isBracketed { return .loopback(port: port) }
            return Host(parsing: String(host), isVersion6: isBracketed)
                .map { SocketAddress(host: $0, port: port) }
        }

        private static func split(
            _ text: String
        ) throws(TransportError) -> (host: Substring, port: Substring) {
            guard let colon = text.lastIndex(of: ":") else {
                throw .invalidAddress(text, "the port is missing, as in 127.0.0.1:7433")
            }
            let host = text[..<colon]
            let port = text[text.index(after: colon)...]
            if host.hasPrefix("[") {
                guard host.hasSuffix("]") else {
                    throw .invalidAddress(text, "the port is missing, as in [::1]:7433")
                }
                return (host.dropFirst().dropLast(), port)
            }
            guard !host.contains(":") else {
                throw .invalidAddress(text, "an IPv6 address stands in brackets, as in [::1]:7433")
            }
            return (host, port)
        }

        private static func port(_ text: Substring) -> UInt16? {
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
                return nil
            }
            return UInt16(text)
        }
    }
}

/// The destination of a client's connection: an address, or the name of a host that has some.
package enum Endpoint: Sendable, Hashable {
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

    /// The host of an address as it is written, without its port and its brackets; nil if it is none.
    package static func host(in text: String) -> String? {
        (try? SocketAddress.Parts(text)).map { String($0.host) }
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

/// Addresses as the system has them.
extension SocketAddress {
    /// Reads an address that the system wrote; an unknown family becomes 0.0.0.0:0.
    package init(_ storage: sockaddr_storage) {
        self = unsafe withUnsafeBytes(of: storage) { raw in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let address = unsafe raw.loadUnaligned(as: sockaddr_in.self)
                let bytes = UInt32(bigEndian: address.sin_addr.s_addr)
                return Self(host: .v4(bytes), port: UInt16(bigEndian: address.sin_port))
            case AF_INET6:
                var address = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
                let host = unsafe withUnsafeBytes(of: &address.sin6_addr) {
                    unsafe Host(version6: $0)
                }
                return Self(host: host, port: UInt16(bigEndian: address.sin6_port))
            default:
                return Self(host: .v4(0), port: 0)
            }
        }
    }

    /// The host as text: dotted, or with colons.
    package var hostText: String {
        var text = [CChar](repeating: 0, count: 64)
        switch host {
        case .v4(let bytes):
            var address = bytes.bigEndian
            _ = unsafe inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        case .v6(let high, let low):
            var address = (high.bigEndian, low.bigEndian)
            _ = unsafe inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
        }
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension SocketAddress.Host {
    /// Reads a numeric address; nil if it is not one.
    ///
    /// The zone of an IPv6 address, as in `fe80::1%eth0`, is left out.
    package init?(parsing text: String, isVersion6: Bool) {
        var bytes = (UInt64(0), UInt64(0))
        let family = isVersion6 ? AF_INET6 : AF_INET
        // A NUL would end the text for C, and the text after it would go unread.
        guard !text.utf8.contains(0) else { return nil }
        let digits = isVersion6 ? String(text.prefix { $0 != "%" }) : text
        guard unsafe inet_pton(family, digits, &bytes) == 1 else { return nil }
        self = unsafe withUnsafeBytes(of: &bytes) { raw in
            if isVersion6 { return unsafe Self(version6: raw) }
            return unsafe .v4(UInt32(bigEndian: raw.loadUnaligned(as: UInt32.self)))
        }
    }

    /// Sixteen bytes in network order; an IPv4-mapped address is the IPv4 address in it.
    fileprivate init(version6 raw: UnsafeRawBufferPointer) {
        let high = unsafe UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))
        let low = unsafe UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        self = Self(high: high, low: low)
    }
}
