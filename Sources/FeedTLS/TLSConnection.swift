internal import COpenSSL
internal import Glibc

/// The TLS of one connection, without its socket: bytes of the peer become plaintext, and plaintext
/// becomes bytes for the peer.
///
/// It belongs to one loop, like the ``TLSBuffers`` that it shares with others. After each call the
/// owner sends what ``TLSBuffers/takeOutput(_:)`` has.
@safe
package final class TLSConnection {
    /// What a read has brought, beside the plaintext in the buffers.
    package enum Progress: Hashable {
        case handshake
        case secured
        /// The connection is secured, and the peer has said that it sends nothing more.
        case ended
    }

    private let ssl: OpaquePointer
    private let context: TLSContext
    package let buffers: TLSBuffers
    private var isSecured = false
    private var hellos = HelloScanner()
    private var hasBuffers = true
    private var wasUsed = true

    package convenience init(server context: TLSContext, _ buffers: TLSBuffers) throws(TLSError) {
        precondition(context.side == .server, "A server's connection is of a server's context.")
        try self.init(context, buffers)
        unsafe SSL_set_accept_state(ssl)
    }

    /// The connection of a client to a host, whose certificate must have the host's name.
    ///
    /// The first bytes for the server are in the buffers.
    ///
    /// - Parameters:
    ///   - context: The context of a client.
    ///   - host: A DNS name or an address, without brackets.
    ///   - buffers: The buffers of the loop.
    /// - Throws: If the host cannot be in a certificate.
    package convenience init(
        client context: TLSContext,
        host: String,
        _ buffers: TLSBuffers
    ) throws(TLSError) {
        precondition(context.side == .client, "A client's connection is of a client's context.")
        try self.init(context, buffers)
        unsafe SSL_set_connect_state(ssl)
        try name(host)
        OpenSSLErrors.clear()
        let code = unsafe SSL_do_handshake(ssl)
        if code <= 0 { try checkWaits(code) }
    }

    private init(_ context: TLSContext, _ buffers: TLSBuffers) throws(TLSError) {
        guard let ssl = unsafe SSL_new(context.pointer) else {
            OpenSSLErrors.clear()
            throw .noMemory
        }
        guard let method = unsafe Self.method.pointer, let bio = unsafe BIO_new(method) else {
            OpenSSLErrors.clear()
            unsafe SSL_free(ssl)
            throw .noMemory
        }
        unsafe BIO_set_data(bio, buffers.exchange)
        // Takes the one reference over, for both directions.
        unsafe SSL_set_bio(ssl, bio, bio)
        unsafe self.ssl = ssl
        self.context = context
        self.buffers = buffers
    }

    deinit { unsafe SSL_free(ssl) }

    /// A kind of BIO, which does not change.
    // Unchecked: any thread may make a BIO of a kind that nobody changes.
    @safe private struct BIOMethod: @unchecked Sendable {
        let pointer = unsafe copenssl_bio_method()
    }

    /// Made once: OpenSSL knows few kinds of BIO, and forgets none.
    private static let method = BIOMethod()

    /// Decrypts a read; the plaintext is in the buffers until the next one.
    package func receive(_ ciphertext: RawSpan) throws(TLSError) -> Progress {
        wasUsed = true
        hasBuffers = true
        if !isSecured {
            try checkHello(ciphertext)
            OpenSSLErrors.clear()
        }
        var hasEnded = false
        unsafe try buffers.decrypt(ciphertext) { (room) throws(TLSError) in
            var count = 0
            let code = unsafe SSL_read_ex(ssl, room.baseAddress, room.count, &count)
            if code == 1 { return count }
            hasEnded = try checkWaits(code)
            return 0
        } isComplete: {
            unsafe buffers.isInputTaken && SSL_has_pending(ssl) == 0
        }
        if !isSecured, unsafe SSL_is_init_finished(ssl) == 1 {
            try checkResumedPeer()
            try checkProtocol()
            isSecured = true
        }
        guard isSecured else {
            guard !hasEnded else { throw .endedInHandshake }
            return .handshake
        }
        return hasEnded ? .ended : .secured
    }

    /// Encrypts bytes for the peer; the connection is secured.
    ///
    /// - Precondition: At most ``TLSLimits/encryptedByteCount`` bytes, for the sake of the buffers.
    package func send(_ plaintext: RawSpan) throws(TLSError) {
        wasUsed = true
        hasBuffers = true
        var count = 0
        let code = unsafe plaintext.withUnsafeBytes { bytes in
            unsafe SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
        }
        if code == 1, count == plaintext.byteCount { return }
        throw failure(code)
    }

    package func end() {
        guard isSecured else { return }
        if unsafe SSL_shutdown(ssl) < 0 { OpenSSLErrors.clear() }
    }

    /// Frees the buffers of a connection that was not used since the last call: 33 KiB each.
    package func freeUnusedBuffers() {
        defer { wasUsed = false }
        guard !wasUsed, hasBuffers, isSecured else { return }
        // Refused while a record is incomplete; the next call tries again.
        hasBuffers = unsafe SSL_free_buffers(ssl) != 1
    }

    /// Refuses a client that announces a long ClientHello, before OpenSSL takes memory for it.
    private func checkHello(_ ciphertext: RawSpan) throws(TLSError) {
        guard context.side == .server else { return }
        // The ticket of a client that has shown a certificate holds it.
        let limit =
            TLSLimits.maximumHelloByteCount
            + (context.verifiesPeer ? TLSLimits.maximumPeerChainByteCount : 0)
        let count = unsafe ciphertext.withUnsafeBytes { bytes in
            unsafe hellos.lengthOver(limit, in: bytes.bindMemory(to: UInt8.self).span)
        }
        if let count { throw .messageTooLong(count, limit: limit) }
    }

    /// Has the certificate of the server checked for the host's name or address.
    private func name(_ host: String) throws(TLSError) {
        guard let host = TLSIdentity.checked(host) else { throw .badHostName(host) }
        let parameters = unsafe SSL_get0_param(ssl)
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
        OpenSSLErrors.clear()
        unsafe SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        guard unsafe SSL_set1_host(ssl, host) == 1,
            unsafe copenssl_set_server_name(ssl, host) == 1
        else {
            OpenSSLErrors.clear()
            throw .badHostName(host)
        }
    }

    /// Throws the failure behind a code unless OpenSSL waits for more bytes of the peer; returns
    /// whether the peer has ended its side instead.
    @discardableResult
    private func checkWaits(_ code: Int32) throws(TLSError) -> Bool {
        switch unsafe SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ: return false
        case SSL_ERROR_ZERO_RETURN: return true
        default: throw failure(code)
        }
    }

    private func failure(_ code: Int32) -> TLSError {
        let (reason, text) = OpenSSLErrors.take()
        switch reason {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return refusal(unsafe SSL_get_verify_result(ssl))
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return .certificateRefused("it has shown none")
        case SSL_R_NO_APPLICATION_PROTOCOL, SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
            return .noCommonProtocol
        case SSL_AD_REASON_OFFSET...SSL_AD_REASON_OFFSET + 255: return .refusedByPeer(text)
        default: return .protocolViolation(text)
        }
    }

    /// Why the peer's certificate is refused; if nobody vouches for it, whose word was asked for.
    private func refusal(_ result: Int) -> TLSError {
        let reason = unsafe String(cString: X509_verify_cert_error_string(result))
        switch Int32(result) {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
            guard context.trustsSystem else { fallthrough }
            return .certificateRefused(
                "\(reason); no file of authorities was given, so those of the system were asked"
            )
        default: return .certificateRefused(reason)
        }
    }

    /// Refuses a peer whose certificate has expired since the session began that it resumes.
    private func checkResumedPeer() throws(TLSError) {
        guard context.verifiesPeer, unsafe SSL_session_reused(ssl) == 1 else { return }
        let certificate = unsafe SSL_get0_peer_certificate(ssl)
        guard let certificate = unsafe certificate,
            unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
        else { throw .certificateRefused("it has expired since the session began") }
    }

    /// Refuses a server that has not chosen feed/1: a Hello with its key is not meant for another program
    /// behind the same certificate.
    private func checkProtocol() throws(TLSError) {
        guard context.side == .client else { return }
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &length)
        guard length > 0 else { throw .noCommonProtocol }
    }

    /// The names in the certificate that the client has shown, checked; none if none was asked for.
    package var peerIdentities: [TLSIdentity] {
        guard isSecured, context.side == .server, context.verifiesPeer,
            let certificate = unsafe SSL_get0_peer_certificate(ssl),
            let names = unsafe copenssl_alternative_names(certificate)
        else { return [] }
        defer { unsafe GENERAL_NAMES_free(names) }
        var identities: [TLSIdentity] = []
        let count = unsafe copenssl_name_count(names)
        for index in 0..<min(count, Int32(TLSLimits.maximumIdentityCount)) {
            var isURI: Int32 = 0
            let name = unsafe copenssl_name(names, index)
            guard let text = unsafe copenssl_name_text(name, &isURI) else { continue }
            let bytes = unsafe UnsafeRawBufferPointer(
                start: ASN1_STRING_get0_data(text),
                count: Int(ASN1_STRING_length(text))
            )
            let decoded = unsafe String(decoding: bytes, as: UTF8.self)
            guard let checked = TLSIdentity.checked(decoded) else { continue }
            identities.append(isURI == 1 ? .uri(checked) : .dns(checked.lowercased()))
        }
        return identities
    }
}

@available(*, unavailable)
extension TLSConnection: Sendable {}

/// Reads the lengths that a client announces for its messages, as long as they are not encrypted.
///
/// They are those of its ClientHello, or of both if the server asks for another (RFC 8446, 4 and 5.1).
///
/// OpenSSL takes memory for a whole message once its length is announced, 128 KiB for a ClientHello, and a
/// client needs to send nine bytes for it. The later messages have limits of their own (``TLSLimits``).
private struct HelloScanner {
    private static let handshakeRecord: UInt64 = 22
    /// A change of the cipher, which means nothing, and an alert.
    private static let otherRecords: ClosedRange<UInt64> = 20...21
    private static let recordHeaderByteCount = 5
    private static let messageHeaderByteCount = 4

    /// The bytes of a header, of which the first ones may have come in an earlier read.
    private struct Header {
        private var value: UInt64 = 0
        private var count = 0

        /// Adds a byte; the whole header if it was the last one of so many.
        mutating func add(_ byte: UInt8, of byteCount: Int) -> UInt64? {
            value = value << 8 | UInt64(byte)
            count += 1
            guard count == byteCount else { return nil }
            defer { self = Header() }
            return value
        }
    }

    private var recordHeader = Header()
    private var messageHeader = Header()
    private var isHandshake = false
    /// The bytes of the record that are to come.
    private var recordRest = 0
    /// The bytes of the message that are to come.
    private var messageRest = 0
    /// Whether all that follows is encrypted, or no TLS.
    private var isOver = false

    /// The announced length of the first message that is longer than a limit; nil if none is.
    ///
    /// `bytes` follow those of the calls before. O(bytes of headers).
    mutating func lengthOver(_ limit: Int, in bytes: Span<UInt8>) -> Int? {
        var place = 0
        while place < bytes.count, !isOver {
            if recordRest > 0, messageRest > 0 || !isHandshake {
                let skipped = min(recordRest, isHandshake ? messageRest : .max, bytes.count - place)
                place += skipped
                recordRest -= skipped
                if isHandshake { messageRest -= skipped }
                continue
            }
            let byte = bytes[place]
            place += 1
            if recordRest == 0 {
                beginRecord(with: byte)
            } else {
                recordRest -= 1
                guard let header = messageHeader.add(byte, of: Self.messageHeaderByteCount) else {
                    continue
                }
                messageRest = Int(header & 0xff_ffff)
                if messageRest > limit { return messageRest }
            }
        }
        return nil
    }

    private mutating func beginRecord(with byte: UInt8) {
        guard let header = recordHeader.add(byte, of: Self.recordHeaderByteCount) else { return }
        let type = header >> 32
        recordRest = Int(header & 0xffff)
        isHandshake = type == Self.handshakeRecord
        isOver = !isHandshake && !Self.otherRecords.contains(type)
    }
}

/// A name of the owner of a certificate: a URI or a DNS name from its alternative names.
package enum TLSIdentity: Sendable, Hashable {
    /// As in `spiffe://example.org/web`.
    case uri(String)
    /// As in `web.example.org`, in lower case.
    case dns(String)

    /// Reads `uri:spiffe://example.org/web` or `dns:web.example.org`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        func name(after prefix: String) -> String? {
            guard text.hasPrefix(prefix) else { return nil }
            return Self.checked(String(text.dropFirst(prefix.count)))
        }
        if let uri = name(after: "uri:") {
            self = .uri(uri)
        } else if let dns = name(after: "dns:") {
            self = .dns(dns.lowercased())
        } else {
            return nil
        }
    }

    /// The name if it can be one: printable ASCII without spaces, and not too long.
    static func checked(_ name: String) -> String? {
        let isName = name.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        let count = name.utf8.count
        return isName && (1...TLSLimits.maximumIdentityByteCount).contains(count) ? name : nil
    }
}

extension TLSIdentity: CustomStringConvertible {
    package var description: String {
        switch self {
        case .uri(let text): "uri:\(text)"
        case .dns(let text): "dns:\(text)"
        }
    }
}
