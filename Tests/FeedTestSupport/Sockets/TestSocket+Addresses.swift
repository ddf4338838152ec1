internal import Glibc

extension TestSocket {
    /// 127.0.0.1, the first byte highest.
    package static var loopbackAddress: UInt32 { 0x7f00_0001 }

    /// An IPv4 address of this machine's that is not loopback; nil where it has none.
    package static var ownAddress: UInt32? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return nil }
        defer { unsafe freeifaddrs(list) }
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard let address = unsafe entry.pointee.ifa_addr,
                unsafe address.pointee.sa_family == sa_family_t(AF_INET)
            else { continue }
            let host = unsafe UnsafeRawPointer(address)
                .loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr.bigEndian
            if host >> 24 != 127 { return host }
        }
        return nil
    }
}
