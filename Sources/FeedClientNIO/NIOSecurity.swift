internal import FeedConcurrency
package import FeedNetwork
internal import NIOCore
internal import NIOSSL

/// The TLS of a client by swift-nio-ssl: TLS 1.3 alone, with a check of the service's certificate.
package struct NIOSecurity: TransportSecurity {
    private let context: NIOSSLContext

    package static func client(_ files: TLSClientFiles) throws(TLSFileError) -> NIOSecurity {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = [NIOLimits.protocolName]
        configuration.certificateVerification = .fullVerification
        if let authority = try files.readAuthority() {
            configuration.trustRoots = .certificates(try certificates(authority))
        }
        if let files = files.certificate {
            let chain = try PEMBytes(files.certificatePath, isPrivate: false)
            let own = try certificates(chain)
            try own.first?.checkDates(chain.name)
            configuration.certificateChain = own.map { .certificate($0) }
            configuration.privateKey = .privateKey(try key(files.keyPath))
        }
        do {
            return NIOSecurity(context: try NIOSSLContext(configuration: configuration))
        } catch {
            guard let files = files.certificate else { throw .noSystemStore("\(error)") }
            throw .refused(files.keyPath, "\(error)")
        }
    }

    package func target(host: String) -> NIOTarget { NIOTarget(context: context, host: host) }

    private static func certificates(
        _ pem: PEMBytes
    ) throws(TLSFileError) -> [NIOSSLCertificate] {
        guard let certificates = try? NIOSSLCertificate.fromPEMBytes(pem.bytes),
            !certificates.isEmpty
        else { throw .noCertificate(pem.name) }
        return certificates
    }

    private static func key(_ path: String) throws(TLSFileError) -> NIOSSLPrivateKey {
        var pem = try PEMBytes(path, isPrivate: true)
        defer { pem.overwrite() }
        guard let key = try? NIOSSLPrivateKey(bytes: pem.bytes, format: .pem) else {
            throw .noKey(path)
        }
        return key
    }
}

/// How a client secures a connection, and the host that it wants to reach.
package struct NIOTarget: Sendable {
    let context: NIOSSLContext
    let host: String

    /// The address that the host is; nil if it is a name.
    private var address: FeedNetwork.SocketAddress.Host? {
        FeedNetwork.SocketAddress.Host(parsing: host, isVersion6: host.contains(":"))
    }

    /// The TLS of a connection; the name of an address is the address.
    func makeHandler(for peer: FeedNetwork.SocketAddress) throws(TLSError) -> NIOSSLClientHandler {
        // Without a name swift-nio-ssl asks for the address that the socket has.
        guard address == nil || address == peer.host,
            let handler = try? NIOSSLClientHandler(
                context: context,
                serverHostname: address == nil ? host : nil
            )
        else { throw .badHostName(host) }
        return handler
    }

    /// Whether a certificate that swift-nio-ssl has taken is the host's.
    ///
    /// It also takes one of the socket's address for any name, and a `*` for a part of a label.
    func isNamed(by certificate: NIOSSLCertificate) -> Bool {
        let names = certificate._subjectAlternativeNames()
        // Then it has checked the address, or the common name.
        if address != nil || names.isEmpty { return true }
        let host = (host.hasSuffix(".") ? host.dropLast() : host[...]).lowercased()
        return names.contains { name in
            guard name.nameType == .dnsName else { return false }
            let name = String(decoding: name.contents, as: UTF8.self).lowercased()
            return name == host
                || name.hasPrefix("*.") && name.dropFirst() == host.drop { $0 != "." }
        }
    }
}

extension NIOSSLCertificate {
    /// Refuses a certificate that is not valid now.
    fileprivate func checkDates(_ path: String) throws(TLSFileError) {
        let now = SystemClock.unixMilliseconds() / 1_000
        let begin = TLSDate(unixSeconds: Int64(notValidBefore))
        let end = TLSDate(unixSeconds: Int64(notValidAfter))
        guard begin.unixSeconds <= now else { throw .notYetValid(path, begin) }
        guard end.unixSeconds > now else { throw .expired(path, end) }
    }
}

extension TLSError {
    /// The cause that an error of swift-nio-ssl stands for; it has no codes, and its texts have BoringSSL's.
    init(_ error: any Error) {
        let text = "\(error)"
        self =
            switch error {
            case let error as TLSError: error
            case let error as NIOSSLExtraError where error == .failedToValidateHostname:
                .certificateRefused(text)
            case _ where text.contains("EOF during handshake"): .endedInHandshake
            case _ where text.contains("NO_APPLICATION_PROTOCOL"): .noCommonProtocol
            case _ where text.contains("CERTIFICATE_VERIFY_FAILED"): .certificateRefused(text)
            case _ where text.contains("_ALERT_"): .refusedByPeer(text)
            default: .protocolViolation(text)
            }
    }
}
