/// The reason why a connection is not, or no longer, secured.
package enum TLSError: Error, Sendable, Hashable {
    /// The peer sent what is no TLS 1.3, or what this side refuses; OpenSSL's reason.
    case protocolViolation(String)
    /// The peer's certificate is not accepted; OpenSSL's reason.
    case certificateRefused(String)
    /// The peer refused the connection with an alert, for instance for the certificate of this side.
    case refusedByPeer(String)
    /// The peer speaks none of the protocols of this side.
    case noCommonProtocol
    /// The peer ended the connection during the handshake.
    case endedInHandshake
    /// The handshake had to give way to others: too many were under way.
    case gaveWay
    /// The peer announced a message of so many bytes, above the limit.
    case messageTooLong(Int, limit: Int)
    /// OpenSSL has no memory left for the connection.
    case noMemory
    /// The name cannot be the name of a host.
    case badHostName(String)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .protocolViolation(let reason): "The TLS connection failed: \(reason)."
        case .certificateRefused(let reason):
            "The certificate of the peer is not accepted: \(reason)."
        case .refusedByPeer(let reason): "The peer refused the TLS connection: \(reason)."
        case .noCommonProtocol: "The peer does not speak feed/1 over TLS."
        case .endedInHandshake: "The peer ended the connection during the TLS handshake."
        case .gaveWay: "The TLS handshake gave way to others: too many were under way."
        case .messageTooLong(let count, let limit):
            "The peer announced a ClientHello of \(count) bytes, and the limit is \(limit)."
        case .noMemory: "No memory is left for a TLS connection."
        case .badHostName(let name): "\"\(name)\" cannot be the name of a host in a certificate."
        }
    }
}
