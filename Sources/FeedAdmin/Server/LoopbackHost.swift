/// The names of this machine that the header Host may have.
enum LoopbackHost {
    /// Whether a header's value is `localhost`, 127.x.y.z or `[::1]`, with or without a port.
    ///
    /// HTTP/1.0 has no such header, and no browser speaks it.
    static func isNamed(by host: String) -> Bool {
        if host.isEmpty { return true }
        if host.hasPrefix("[") {
            return host == "[::1]" || host.hasPrefix("[::1]:")
        }
        let name = host.prefix { $0 != ":" }.lowercased()
        if name == "localhost" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
