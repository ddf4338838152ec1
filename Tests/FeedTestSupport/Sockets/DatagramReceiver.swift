internal import Glibc

/// A datagram socket of a test that takes what programs tell their supervisor.
///
/// Each wait is bounded, so that a message that never comes fails a test and does not hang it.
package final class DatagramReceiver: Sendable {
    package let address: String
    private let descriptor: Int32

    /// A socket at a path, or at the name of an abstract one behind an `@`.
    package init(at address: String, timeoutSeconds: Int = 120) throws {
        self.address = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            throw TestSocket.Failure.system(call: "socket", number: errno)
        }
        var time = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        let timeSize = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, timeSize)
        var name = Array(address.utf8)
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &place.sun_path) { unsafe $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let code = unsafe withUnsafePointer(to: place) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size)
            }
        }
        guard code == 0 else { throw TestSocket.Failure.system(call: "bind", number: errno) }
    }

    deinit { close(descriptor) }

    package func receive() throws -> String {
        guard let text = take(flags: 0) else {
            throw TestSocket.Failure.system(call: "recv", number: errno)
        }
        return text
    }

    /// The next datagram that has come, without waiting; nil where none has.
    package func receiveWithoutWaiting() -> String? { take(flags: Int32(MSG_DONTWAIT)) }

    private func take(flags: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, flags)
        guard count >= 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
