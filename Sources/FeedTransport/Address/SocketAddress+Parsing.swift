extension SocketAddress {
    /// Reads `127.0.0.1:7433`, `[::1]:7433` or `localhost:7433`; other names are not looked up.
    ///
    /// `[::ffff:127.0.0.1]:7433` is `127.0.0.1:7433`.
    package init(parsing text: String) throws(TransportError) {
        let (hostText, portText) = try Self.split(text)
        guard let port = Self.port(portText) else {
            throw .invalidAddress(text, "the port must be a number from 0 to 65535")
        }
        if hostText == "localhost", !text.hasPrefix("[") {
            self = .loopback(port: port)
            return
        }
        guard let host = Host(parsing: String(hostText), isVersion6: text.hasPrefix("[")) else {
            let kind = text.hasPrefix("[") ? "an IPv6 address" : "an IPv4 address or localhost"
            throw .invalidAddress(text, "\"\(hostText)\" is not \(kind)")
        }
        self.init(host: host, port: port)
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
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return UInt16(text)
    }
}
