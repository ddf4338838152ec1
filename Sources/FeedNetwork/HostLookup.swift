package import FeedConcurrency

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Finds the addresses of a host name, on a thread of its own.
///
/// The system's lookup blocks and cannot be cancelled. A detached thread delays neither a loop nor
/// its end.
package struct HostLookup: Sendable {
    /// The addresses in the order in which to try them, or why there are none.
    package typealias Answer = Result<[SocketAddress], TransportError>

    private let resolve: @Sendable (_ name: String, _ port: UInt16) -> Answer

    /// A lookup by any means; `resolve` may block.
    package init(_ resolve: @escaping @Sendable (_ name: String, _ port: UInt16) -> Answer) {
        self.resolve = resolve
    }

    /// The lookup of the system: its file of hosts, its name servers, in its order.
    package static let system = HostLookup { systemAnswer(to: $0, port: $1) }

    /// The addresses of a name, in the order in which to try them; blocks, so it is not for a loop.
    package func addresses(
        of name: String,
        port: UInt16
    ) throws(TransportError) -> [SocketAddress] {
        try resolve(name, port).get()
    }

    /// Looks a name up, and passes the answer to `body` on the thread of the lookup.
    package func start(
        _ name: String,
        port: UInt16,
        _ body: @escaping @Sendable (Answer) -> Void
    ) throws(ThreadStartError) {
        try NamedThread("lookup").start { [resolve] in body(resolve(name, port)) }
    }

    private static func systemAnswer(to name: String, port: UInt16) -> Answer {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        #if canImport(Darwin)
        unsafe hints.ai_socktype = SOCK_STREAM
        #else
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        // Only families of which this machine has an address, as others cannot be reached.
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(name, nil, &hints, &list)
        guard code == 0 else {
            return .failure(.unknownHost(name, unsafe String(cString: gai_strerror(code)) + "."))
        }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if var address = unsafe SocketAddress(entry.pointee) {
                address.port = port
                if !addresses.contains(address) { addresses.append(address) }
            }
            unsafe next = entry.pointee.ai_next
        }
        guard addresses.isEmpty else { return .success(addresses) }
        return .failure(.unknownHost(name, "It has neither an IPv4 nor an IPv6 address."))
    }
}

extension SocketAddress {
    /// The address of a lookup's entry; nil for other families.
    fileprivate init?(_ entry: addrinfo) {
        let family = unsafe entry.ai_family
        guard family == AF_INET || family == AF_INET6,
            let address = unsafe entry.ai_addr
        else { return nil }
        var storage = sockaddr_storage()
        unsafe withUnsafeMutableBytes(of: &storage) { storage in
            let byteCount = unsafe min(Int(entry.ai_addrlen), storage.count)
            unsafe storage.copyMemory(
                from: UnsafeRawBufferPointer(start: address, count: byteCount)
            )
        }
        self.init(storage)
    }
}
