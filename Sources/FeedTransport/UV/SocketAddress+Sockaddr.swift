import CLibUV
import Glibc

extension SocketAddress {
    /// Throws the error that keeps a process from listening at the address now; nothing stays
    /// bound.
    ///
    /// Another process may still take the address before this one listens.
    package func checkCanListen() throws(TransportError) {
        let descriptor = try UVSocket.open(for: self, .bind(self))
        defer { UVSocket.close(descriptor) }
        try UVSocket.bind(descriptor, to: self)
    }

    /// The family to open a socket with.
    var family: Int32 {
        switch host {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    /// Calls `body` with the address in the system's form, for the duration of the call.
    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr_storage>) -> Result) -> Result {
        var storage = sockaddr_storage()
        switch host {
        case .v4(let bytes):
            unsafe withUnsafeMutableBytes(of: &storage) { raw in
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = bytes.bigEndian
                unsafe raw.storeBytes(of: address, as: sockaddr_in.self)
            }
        case .v6(let high, let low):
            unsafe withUnsafeMutableBytes(of: &storage) { raw in
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
                    unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
                    unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
                }
                unsafe raw.storeBytes(of: address, as: sockaddr_in6.self)
            }
        }
        return unsafe body(&storage)
    }

    /// Reads an address that the system wrote; an unknown family becomes 0.0.0.0:0.
    init(_ storage: sockaddr_storage) {
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
        unsafe withSockaddr { address in
            var text = [CChar](repeating: 0, count: 64)
            let raw = unsafe UnsafeRawPointer(address)
            _ =
                switch host {
                case .v4:
                    unsafe uv_ip4_name(
                        raw.assumingMemoryBound(to: sockaddr_in.self),
                        &text,
                        text.count
                    )
                case .v6:
                    unsafe uv_ip6_name(
                        raw.assumingMemoryBound(to: sockaddr_in6.self),
                        &text,
                        text.count
                    )
                }
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

extension SocketAddress.Host {
    /// Reads a numeric address; nil if it is not one.
    init?(parsing text: String, isVersion6: Bool) {
        var bytes = (UInt64(0), UInt64(0))
        let family = isVersion6 ? AF_INET6 : AF_INET
        // A NUL would end the text for C, and the text after it would go unread.
        guard !text.utf8.contains(0) else { return nil }
        guard unsafe uv_inet_pton(family, text, &bytes) == 0 else { return nil }
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
