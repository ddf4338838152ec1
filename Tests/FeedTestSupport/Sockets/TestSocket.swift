internal import Glibc

/// A blocking TCP client socket that does exactly what it is told: the misbehaving peer of tests.
///
/// Every wait is bounded by a receive timeout, so that a server that never answers fails a test
/// and does not hang it.
package final class TestSocket: @unchecked Sendable {
    package enum Failure: Error, Equatable {
        /// A system call failed with this error number.
        case system(call: String, number: Int32)
        /// The peer closed before as many bytes came as were asked for.
        case endOfFile(received: Int, wanted: Int)
    }

    private var descriptor: Int32

    /// A connection that a listener has accepted.
    init(accepted descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to a port, of the loopback address unless another of this machine is given; from an
    /// address of this machine, or from the one that the system takes.
    package init(
        port: UInt16,
        host: UInt32 = loopbackAddress,
        from source: UInt32? = nil,
        receiveBufferByteCount: Int32? = nil,
        timeoutSeconds: Int = 120
    ) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system(call: "socket", number: errno) }
        if let receiveBufferByteCount { setOption(SOL_SOCKET, SO_RCVBUF, receiveBufferByteCount) }
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        setOption(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: timeoutSeconds, tv_usec: 0))
        setOption(SOL_SOCKET, SO_SNDTIMEO, timeval(tv_sec: timeoutSeconds, tv_usec: 0))
        if let source {
            try unsafe apply("bind", source, port: 0) { unsafe Glibc.bind($0, $1, $2) }
        }
        try unsafe apply("connect", host, port: port) { unsafe Glibc.connect($0, $1, $2) }
    }

    private func apply(
        _ name: String,
        _ host: UInt32,
        port: UInt16,
        _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let number = errno
            close()
            throw Failure.system(call: name, number: number)
        }
    }

    deinit { close() }

    /// Sends all of the bytes; an error says how the peer refused them.
    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor,
                    buffer.baseAddress?.advanced(by: sent),
                    buffer.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { throw Failure.system(call: "send", number: errno) }
            sent += count
        }
    }

    /// Sends what the peer takes without waiting, and says how many bytes that were.
    package func sendWithoutWaiting(_ bytes: [UInt8]) -> Int {
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(
                descriptor,
                buffer.baseAddress,
                buffer.count,
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            )
        }
        return max(0, count)
    }

    /// Receives exactly this many bytes.
    package func receive(_ byteCount: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < byteCount {
            let more = try receiveSome(atMost: byteCount - bytes.count)
            guard !more.isEmpty else {
                throw Failure.endOfFile(received: bytes.count, wanted: byteCount)
            }
            bytes += more
        }
        return bytes
    }

    /// Receives what there is, waiting for the first byte; empty at the end of file.
    package func receiveSome(atMost byteCount: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: byteCount)
        let count = unsafe buffer.withUnsafeMutableBytes { pointer in
            unsafe recv(descriptor, pointer.baseAddress, pointer.count, 0)
        }
        guard count >= 0 else { throw Failure.system(call: "recv", number: errno) }
        return Array(buffer[..<count])
    }

    /// Receives what there is, without waiting; empty where nothing has come.
    package func receiveWithoutWaiting() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe buffer.withUnsafeMutableBytes { pointer in
            unsafe recv(descriptor, pointer.baseAddress, pointer.count, Int32(MSG_DONTWAIT))
        }
        return Array(buffer[..<max(0, count)])
    }

    /// Receives until the peer closes its side.
    package func receiveUntilEndOfFile() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try receiveSome(atMost: 1 << 16)
            if more.isEmpty { return bytes }
            bytes += more
        }
    }

    /// Says that no more will be sent; answers can still be received.
    package func shutDownSending() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset, as a crashed peer does.
    package func reset() {
        setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        close()
    }

    /// Closes the socket; again does nothing.
    package func close() {
        guard descriptor >= 0 else { return }
        _ = Glibc.close(descriptor)
        descriptor = -1
    }

    private func setOption<Value>(_ level: Int32, _ name: Int32, _ value: Value) {
        var value = value
        _ = unsafe withUnsafeBytes(of: &value) { bytes in
            unsafe setsockopt(descriptor, level, name, bytes.baseAddress, socklen_t(bytes.count))
        }
    }
}

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
