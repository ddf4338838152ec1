import CLibUV

/// The operation that was tried, for the error that names it.
enum UVOperation {
    case bind(SocketAddress)
    case connect(SocketAddress)
    case accept
    case read
    case write
    case other(StaticString)

    var text: String {
        switch self {
        case .bind(let address): "Listening at \(address)"
        case .connect(let address): "Connecting to \(address)"
        case .accept: "Accepting a connection"
        case .read: "Reading from a connection"
        case .write: "Writing to a connection"
        case .other(let name): "\(name)"
        }
    }
}

/// Classifies a code of libuv or of a system call: a value, nil for "would block, try again later",
/// or an error.
///
/// A code that only a mistake of this program can cause traps.
@inline(__always)
@discardableResult
func uvResult(_ code: some BinaryInteger, _ operation: UVOperation) throws(TransportError) -> Int? {
    if code >= 0 { return Int(code) }
    return try uvFailure(Int32(truncatingIfNeeded: code), operation)
}

/// The error behind a negative code, or nil for "would block".
@inline(never)
private func uvFailure(_ code: Int32, _ operation: UVOperation) throws(TransportError) -> Int? {
    if code == UV_EAGAIN.rawValue || code == UV_EINTR.rawValue { return nil }
    throw transportError(code, operation)
}

func transportError(_ code: Int32, _ operation: UVOperation) -> TransportError {
    switch (uv_errno_t(code), operation) {
    case (UV_EBADF, _), (UV_EFAULT, _), (UV_ENOTSOCK, _):
        preconditionFailure(
            "\(operation.text): \(uvText(code)), which is a mistake of this program."
        )
    case (UV_EMFILE, _), (UV_ENFILE, _): return .tooManyOpenFiles
    case (UV_EADDRINUSE, .bind(let address)): return .addressInUse(address)
    case (UV_EACCES, .bind(let address)): return .permissionDenied(address)
    case (UV_EADDRNOTAVAIL, .bind(let address)), (UV_EADDRNOTAVAIL, .connect(let address)):
        return .addressNotAvailable(address)
    case (UV_ECONNREFUSED, _): return .connectionRefused
    case (UV_ECONNRESET, _), (UV_EPIPE, _), (UV_ECONNABORTED, _): return .connectionReset
    // Events on the connection while it waited, as accept(2) lists them.
    case (UV_ENETDOWN, .accept), (UV_EPROTO, .accept), (UV_ENOPROTOOPT, .accept),
        (UV_EHOSTDOWN, .accept), (UV_ENONET, .accept), (UV_EHOSTUNREACH, .accept),
        (UV_ENOTSUP, .accept), (UV_ENETUNREACH, .accept), (UV_ETIMEDOUT, .accept):
        return .connectionReset
    case (UV_ETIMEDOUT, _): return .timedOut
    case (UV_EOF, _): return .endOfFile
    default: return .system(operation: operation.text, code: code, text: uvText(code))
    }
}

/// The name and the text of a code, as in `ENOMEM: not enough memory`.
private func uvText(_ code: Int32) -> String {
    var name = [CChar](repeating: 0, count: 32)
    var text = [CChar](repeating: 0, count: 128)
    unsafe uv_err_name_r(code, &name, name.count)
    unsafe uv_strerror_r(code, &text, text.count)
    return [name, text]
        .map { String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) }
        .joined(separator: ": ")
}
