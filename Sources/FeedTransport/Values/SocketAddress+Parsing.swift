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
