#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// An error of the network or the machine; each case is a cause that callers distinguish.
package enum TransportError: Error, Sendable, Hashable {
    case addressInUse(SocketAddress)
    /// The process may not listen at the address (ports below 1024 need a right).
    case permissionDenied(SocketAddress)
    /// The address is not one of this machine, or it has no port left to connect from.
    case addressNotAvailable(SocketAddress)
    /// The text names no address, with the reason.
    case invalidAddress(String, String)
    /// The name has no address, with the reason as a sentence.
    case unknownHost(String, String)
    /// The process, or the machine, has no descriptor left.
    case tooManyOpenFiles
    case connectionRefused
    /// The peer or the network broke the connection.
    case connectionReset
    case endOfFile
    case timedOut
    case tls(TLSError)
    case loopStopped
    /// Anything else, with the operation and the system's name and text of the error.
    case system(operation: String, code: Int32, text: String)
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .addressInUse(let address): "\(address) is in use by another process."
        case .permissionDenied(let address):
            "No permission to use \(address): ports below 1024 need the right to bind them."
        case .addressNotAvailable(let address):
            "\(address) is not an address of this machine, or no local port is left."
        case .invalidAddress(let text, let reason): "\"\(text)\" is not an address: \(reason)."
        case .unknownHost(let name, let reason): "No address for \"\(name)\": \(reason)"
        case .tooManyOpenFiles: "Too many open files: raise the limit (ulimit -n)."
        case .connectionRefused: "The connection was refused: nothing listens at the address."
        case .connectionReset: "The connection was reset by the peer."
        case .endOfFile: "The peer closed the connection."
        case .timedOut: "The connection timed out."
        case .tls(let error): "\(error)"
        case .loopStopped: "The event loop has stopped."
        case .system(let operation, _, let text): "\(operation) failed: \(text)."
        }
    }
}

/// Why a connection ended.
package enum CloseReason: Sendable, Hashable {
    /// The handler closed it, or its loop stopped.
    case local
    /// The peer ended its side first and everything was flushed.
    case peerClosed
    /// The peer or the network broke it.
    case reset
    case idleTimeout
    /// The rest of a begun frame did not come in time.
    case partialReadTimeout
    /// The peer took none of the bytes that waited for it.
    case writeStalled
    /// The connection held this many bytes, or was about to keep them, while all connections
    /// together held too much.
    case overBudget(heldByteCount: Int)
    case connectFailed(TransportError)
    /// The system failed in another way.
    case failed(TransportError)
}

extension TransportError {
    /// A loop takes four at most, and other threads may take some meanwhile.
    private static var loopDescriptorCount: Int { 8 }

    /// Throws ``tooManyOpenFiles`` if the process has not the descriptors left for an event loop: libuv and
    /// SwiftNIO would end the process.
    package static func checkRoomForLoop() throws(TransportError) {
        let copies = (0..<loopDescriptorCount).map { _ in dup(0) }
        let code = errno
        for copy in copies where copy >= 0 { close(copy) }
        if copies.contains(-1), code == EMFILE || code == ENFILE { throw .tooManyOpenFiles }
    }
}
