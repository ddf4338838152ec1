import CLibUV
internal import FeedConcurrency
import Glibc

/// Sockets before libuv has them: plain descriptors, and their options.
enum UVSocket {
    /// A socket that listens at `address`, and its actual address.
    ///
    /// Accepted sockets inherit the options set here, which saves a call for each of them.
    static func listener(
        at address: SocketAddress,
        _ configuration: TransportConfiguration
    ) throws(TransportError) -> (descriptor: Int32, address: SocketAddress) {
        let descriptor = try open(for: address, .bind(address))
        do {
            try setConnectionOptions(descriptor, configuration)
            try bind(descriptor, to: address)
            try uvResult(
                clibuv_listen(descriptor, TransportLimits.listenBacklog),
                .bind(address)
            )
            var storage = sockaddr_storage()
            try unsafe uvResult(clibuv_local_address(descriptor, &storage), .bind(address))
            return (descriptor, SocketAddress(storage))
        } catch {
            close(descriptor)
            throw error
        }
    }

    static func bind(_ descriptor: Int32, to address: SocketAddress) throws(TransportError) {
        try set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.family == AF_INET6 { try set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        let bound = unsafe address.withSockaddr { unsafe clibuv_bind(descriptor, $0) }
        try uvResult(bound, .bind(address))
    }

    static func client(
        for address: SocketAddress,
        _ configuration: TransportConfiguration
    ) throws(TransportError) -> Int32 {
        let descriptor = try open(for: address, .connect(address))
        do {
            try setConnectionOptions(descriptor, configuration)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Takes the next connection from a listening socket; nil if none waits.
    static func accept(_ listener: Int32) throws(TransportError) -> AcceptedSocket? {
        var peer = sockaddr_storage()
        let code = unsafe clibuv_accept(listener, &peer)
        guard let descriptor = try uvResult(code, .accept) else { return nil }
        return AcceptedSocket(descriptor: Int32(descriptor), peer: SocketAddress(peer))
    }

    /// Reads some bytes of a socket that no loop has; nil if none have come, and none at the end of input.
    static func receive(_ descriptor: Int32, atMost count: Int) throws(TransportError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let code = unsafe bytes.withUnsafeMutableBytes { raw in
            unsafe clibuv_receive(descriptor, raw.baseAddress, raw.count)
        }
        guard let received = try uvResult(code, .read) else { return nil }
        return Array(bytes.prefix(received))
    }

    /// A descriptor that only reserves a place in the table of open files; nil if there is none.
    static func spare() -> Int32? {
        let descriptor = clibuv_open_spare()
        return descriptor >= 0 ? descriptor : nil
    }

    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    static func open(
        for address: SocketAddress,
        _ operation: UVOperation
    ) throws(TransportError) -> Int32 {
        let descriptor = try uvResult(clibuv_tcp_socket(address.family), operation)
        return Int32(descriptor ?? -1)
    }

    private static func setConnectionOptions(
        _ descriptor: Int32,
        _ configuration: TransportConfiguration
    ) throws(TransportError) {
        let tcp = Int32(IPPROTO_TCP)
        let unacknowledged = Int32(
            clamping: configuration.unacknowledgedTimeout.millisecondsRoundedUp
        )
        try set(descriptor, tcp, TCP_NODELAY, 1)
        try set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        try set(descriptor, tcp, TCP_KEEPIDLE, configuration.keepAliveIdle.wholeSeconds)
        try set(descriptor, tcp, TCP_KEEPINTVL, configuration.keepAliveInterval.wholeSeconds)
        try set(descriptor, tcp, TCP_KEEPCNT, Int32(configuration.keepAliveProbeCount))
        try set(descriptor, tcp, TCP_USER_TIMEOUT, unacknowledged)
        if let byteCount = configuration.sendBufferByteCount {
            try set(descriptor, SOL_SOCKET, SO_SNDBUF, Int32(clamping: byteCount))
        }
    }

    private static func set(
        _ descriptor: Int32,
        _ level: Int32,
        _ name: Int32,
        _ value: Int32
    ) throws(TransportError) {
        try uvResult(
            clibuv_set_option(descriptor, level, name, value),
            .other("Setting a socket option")
        )
    }
}

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
}

/// An accepted connection that no loop has yet.
package struct AcceptedSocket: Sendable {
    let descriptor: Int32
    /// The address of the peer, or of the client that a proxy has named.
    package let peer: SocketAddress
    var isProxied = false

    /// The connection with the address of the client that the proxy has named, if it has named one.
    func behindProxy(_ source: ProxyHeader.Source) -> AcceptedSocket {
        let client = if case .client(let address) = source { address } else { peer }
        return AcceptedSocket(descriptor: descriptor, peer: client, isProxied: true)
    }
}
