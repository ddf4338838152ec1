internal import Glibc

/// The datagram socket of a supervisor that takes news of its services, as sd_notify(3) describes it.
///
/// A datagram is a few lines, each a name, `=` and a value. The address is the path of a socket, or
/// `@` and the name of an abstract one.
final class NotifySocket: Sendable {
    /// The longest address, in bytes: the system's limit, less the byte that ends a path.
    static let longestAddress = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let descriptor: Int32
    private let address: sockaddr_un
    private let addressByteCount: socklen_t

    /// A socket that sends to an address; nothing is sent yet.
    init(to text: String) throws(NotifySocketError) {
        var name = Array(text.utf8)
        guard let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
            (2...Self.longestAddress).contains(name.count), !name.contains(0)
        else { throw .badAddress(text) }
        // The name of an abstract socket begins with a NUL, in the place of the `@`.
        if first == UInt8(ascii: "@") { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            unsafe path.copyBytes(from: name)
        }
        let start = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        self.address = address
        addressByteCount = socklen_t(start + name.count)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
    }

    deinit { close(descriptor) }

    /// Sends one datagram; waits where the supervisor has not taken earlier ones.
    ///
    /// - Throws: Where the supervisor is gone.
    func send(_ text: String) throws(NotifySocketError) {
        let bytes = Array(text.utf8)
        let sent = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(
                    descriptor,
                    bytes,
                    bytes.count,
                    Int32(MSG_NOSIGNAL),
                    address,
                    addressByteCount
                )
            }
        }
        guard sent == bytes.count else { throw .system(call: "sendto", code: errno) }
    }
}

/// The reason why a supervisor cannot be told.
enum NotifySocketError: Error, Equatable, CustomStringConvertible {
    /// The address is neither a path nor the name of an abstract socket, or it is too long.
    case badAddress(String)
    /// A system call failed with this error number.
    case system(call: String, code: Int32)

    var description: String {
        switch self {
        case .badAddress(let text):
            "expected a path that begins with / or a name that begins with @, at most "
                + "\(NotifySocket.longestAddress) bytes, got \(text)."
        case .system(let call, let code): "\(call) failed with error \(code)."
        }
    }
}
