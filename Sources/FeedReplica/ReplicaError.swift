internal import Glibc

/// Why the replica cannot be reached or understood.
package enum ReplicaError: Error, Equatable, Sendable {
    /// A call of the system failed on the way to the socket at a path.
    case cannotConnect(path: String, code: Int32)
    case pathTooLong(path: String, limit: Int)
    /// The replica has closed the socket, or is gone.
    case closed
    case system(call: String, code: Int32)
    /// The name of a frame, or its number, and what it has that it must not have.
    case badFrame(kind: String, what: String)
    /// The replica does not read what it was sent.
    case tooMuchUnsent(byteCount: Int, limit: Int)
}

extension ReplicaError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotConnect(let path, let code):
            "The replica cannot be reached at \(path): \(Self.text(code))."
        case .pathTooLong(let path, let limit):
            "The replica cannot be reached at \(path): expected a path of 1 to \(limit) bytes "
                + "without a zero, got \(path.utf8.count) bytes."
        case .closed: "The replica has closed the socket."
        case .system(let call, let code):
            "The socket to the replica fails in \(call): \(Self.text(code))."
        case .badFrame(let kind, let what): "The replica has sent a wrong frame \(kind): \(what)."
        case .tooMuchUnsent(let byteCount, let limit):
            "The replica does not read: \(byteCount) bytes wait for it, the limit is \(limit)."
        }
    }

    private static func text(_ code: Int32) -> String {
        "\(unsafe String(cString: strerror(code))) (error \(code))"
    }
}
