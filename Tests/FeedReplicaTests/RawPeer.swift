import FeedReplica
import Glibc

/// The other end of a connection's socket: bytes as a test gives them, and takes them.
final class RawPeer {
    private var descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Two ends of a socket; the descriptor is for who owns it from then on.
    static func pair(sendBufferByteCount: Int32? = nil) throws -> (peer: RawPeer, descriptor: Int32)
    {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ReplicaError.system(call: "socketpair", code: errno)
        }
        if var size = sendBufferByteCount {
            let length = socklen_t(MemoryLayout<Int32>.size)
            unsafe setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, length)
        }
        return (RawPeer(ends[0]), ends[1])
    }

    /// The connection of a service, and its replica's end.
    static func withService(
        sendBufferByteCount: Int32? = nil
    ) throws -> (peer: RawPeer, connection: ReplicaConnection) {
        let (peer, descriptor) = try pair(sendBufferByteCount: sendBufferByteCount)
        return (peer, ReplicaConnection(adopting: descriptor))
    }

    /// The socket of a replica, and its service's end.
    static func withReplica() throws -> (peer: RawPeer, socket: FrameSocket) {
        let (peer, descriptor) = try pair()
        return (peer, FrameSocket(adopting: descriptor, expecting: FrameKind.ofService))
    }

    deinit { close() }

    /// Sends what there is room for, and says how many bytes that were.
    func send(_ bytes: ArraySlice<UInt8>) -> Int {
        let count = unsafe bytes.withUnsafeBytes { bytes in
            let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
            return unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
        }
        return max(0, count)
    }

    /// What has come, up to so many bytes; empty for nothing.
    func receive(_ byteCount: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let count = unsafe recv(descriptor, &bytes, byteCount, Int32(MSG_DONTWAIT))
        return Array(bytes[..<max(0, count)])
    }

    func close() {
        guard descriptor >= 0 else { return }
        _ = Glibc.close(descriptor)
        descriptor = -1
    }
}
