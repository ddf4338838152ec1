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
}
