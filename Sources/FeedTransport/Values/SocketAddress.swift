/// An IPv4 or IPv6 address with a port.
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

    /// The machine.
    package var host: Host

    /// The port; 0 lets the kernel choose one when listening.
    package var port: UInt16

    /// An address made of its parts.
    package init(host: Host, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// This machine's loopback address over IPv4.
    package static func loopback(port: UInt16) -> Self {
        Self(host: .v4(0x7f00_0001), port: port)
    }

    /// Whether only this machine can reach the address.
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

    /// The parts of a text with a host and a port.
    struct Parts {
        /// The host without its brackets.
        let host: Substring
        /// Whether the host stood in brackets, as IPv6 addresses do.
        let isBracketed: Bool
        /// The port.
        let port: UInt16

        /// Splits a text.
        init(_ text: String) throws(TransportError) {
            let (hostText, portText) = try Self.split(text)
            guard let port = Self.port(portText) else {
                throw .invalidAddress(text, "the port must be a number from 0 to 65535")
            }
            host = hostText
            isBracketed = text.hasPrefix("[")
            self.port = port
        }

        /// The address, where the host is one or `localhost`.
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
                throw .invalidAddress(
                    text,
                    "an IPv6 address stands in brackets, as in [::1]:7433"
                )
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
