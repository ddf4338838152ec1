package enum TLSError: Error, Sendable, Hashable {
    /// The peer sent what is no TLS 1.3, or what this side refuses; OpenSSL's reason.
    case protocolViolation(String)
    /// The peer's certificate is not accepted; OpenSSL's reason.
    case certificateRefused(String)
    /// The peer refused the connection with an alert, for instance for the certificate of this side.
    case refusedByPeer(String)
    case noCommonProtocol
    case endedInHandshake
    /// The handshake had to give way to others: too many were under way.
    case gaveWay
    /// The peer announced a message of so many bytes, above the limit.
    case messageTooLong(Int, limit: Int)
    case noMemory
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

/// The reason why the files of a certificate are refused; each text names the file.
package enum TLSFileError: Error, Sendable, Hashable {
    /// The system does not open or read the file; the system's text of the error.
    case unreadable(String, String)
    /// A directory, a pipe or a device.
    case notAFile(String)
    case tooLong(String, limit: Int)
    /// Others than the owner may read the key, or write it: the mode.
    case notPrivate(String, mode: UInt32)
    /// The file has no certificate in PEM, or one of them is damaged.
    case noCertificate(String)
    /// The file has no private key in PEM, or one with a password.
    case noKey(String)
    case keyDoesNotFit(key: String, certificate: String)
    case expired(String, TLSDate)
    /// The certificate is not valid yet; the time of its begin.
    case notYetValid(String, TLSDate)
    /// OpenSSL refuses the certificate or the key, for instance as too weak; its reason.
    case refused(String, String)
    /// The system has no store of certificates that OpenSSL can read.
    case noSystemStore(String)
}

extension TLSFileError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path) cannot be read: \(reason)."
        case .notAFile(let path): "\(path) is not a regular file."
        case .tooLong(let path, let limit): "\(path) is longer than \(limit) bytes."
        case .notPrivate(let path, let mode):
            "\(path) has the mode \(String(mode, radix: 8)), so others may use the key: type "
                + "`chmod 600 \(path)`."
        case .noCertificate(let path): "\(path) has no whole certificate in PEM."
        case .noKey(let path): "\(path) has no private key in PEM without a password."
        case .keyDoesNotFit(let key, let certificate):
            "The key in \(key) is not the one of the certificate in \(certificate)."
        case .expired(let path, let end): "The certificate in \(path) expired at \(end)."
        case .notYetValid(let path, let begin):
            "The certificate in \(path) is valid from \(begin) on, and not yet."
        case .refused(let path, let reason): "\(path) is refused: \(reason)."
        case .noSystemStore(let reason): "The system's certificates cannot be read: \(reason)."
        }
    }
}
