internal import Glibc

/// A port of the loopback address for a service that is started more than once.
///
/// While the service is down, the system may give its port to any connection of this machine, and the
/// next start would find it in use. A socket that is bound and does not listen prevents that; the
/// service may bind beside it, as both set SO_REUSEADDR.
package final class ReservedPort: Sendable {
    package let number: UInt16

    private let descriptor: Int32

    /// Reserves a port that nobody uses until the end of this object.
    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw TestSocket.Failure.system(call: "socket", number: errno)
        }
        self.descriptor = descriptor
        var yes: Int32 = 1
        _ = unsafe setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_REUSEADDR,
            &yes,
            socklen_t(MemoryLayout<Int32>.size)
        )
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = TestSocket.loopbackAddress.bigEndian
        var byteCount = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, byteCount) == 0
                    && getsockname(descriptor, $0, &byteCount) == 0
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        guard result else {
            close(descriptor)
            throw TestSocket.Failure.system(call: "bind", number: errno)
        }
    }

    /// Takes connections, which are silent until a test accepts them.
    package func listen() throws {
        guard Glibc.listen(descriptor, 16) == 0 else {
            throw TestSocket.Failure.system(call: "listen", number: errno)
        }
    }

    /// Waits for the next connection.
    package func accept() throws -> TestSocket {
        let peer = Glibc.accept(descriptor, nil, nil)
        guard peer >= 0 else { throw TestSocket.Failure.system(call: "accept", number: errno) }
        _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
        return TestSocket(accepted: peer)
    }

    package var address: String { "127.0.0.1:\(number)" }

    deinit { close(descriptor) }
}
