internal import COpenSSL
// Who makes a context names its files and errors.
@_exported public import FeedNetwork

/// What the connections of a server or a client have in common: its certificate and key, whom it
/// trusts, and the keys of session tickets.
///
/// It does not change. To replace a certificate, make another context for new connections; those of
/// the old one keep it.
// Unchecked: OpenSSL lets any thread make connections of a context that nobody changes.
@safe
package final class TLSContext: @unchecked Sendable {
    enum Side { case server, client }

    let pointer: OpaquePointer
    let side: Side
    /// The end of the own certificate's validity; nil if it has none.
    package let expiry: TLSDate?
    let verifiesPeer: Bool
    /// Whether the system's authorities vouch for peers, as no file of others was given.
    let trustsSystem: Bool

    private init(
        _ pointer: OpaquePointer,
        _ side: Side,
        expiry: TLSDate?,
        verifiesPeer: Bool,
        trustsSystem: Bool = false
    ) {
        unsafe self.pointer = pointer
        self.side = side
        self.expiry = expiry
        self.verifiesPeer = verifiesPeer
        self.trustsSystem = trustsSystem
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    /// The context of a server; it refuses files that no client could be served with.
    package static func server(_ files: TLSServerFiles) throws(TLSFileError) -> TLSContext {
        let (pointer, expiry) = unsafe try make(
            .server,
            files.certificate,
            servesHTTP: files.servesHTTP
        )
        do throws(TLSFileError) {
            if let path = files.clientAuthorityPath {
                unsafe try trust(PEMFile(path, isPrivate: false), in: pointer, asksClients: true)
                let demand = files.servesHTTP ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | demand, nil)
            }
        } catch {
            unsafe SSL_CTX_free(pointer)
            throw error
        }
        return unsafe TLSContext(
            pointer,
            .server,
            expiry: expiry,
            verifiesPeer: files.clientAuthorityPath != nil
        )
    }

    package static func client(_ files: TLSClientFiles) throws(TLSFileError) -> TLSContext {
        let (pointer, expiry) = unsafe try make(.client, files.certificate)
        do throws(TLSFileError) {
            if let authority = try files.readAuthority() {
                unsafe try trust(PEMFile(authority), in: pointer, asksClients: false)
            } else if unsafe SSL_CTX_set_default_verify_paths(pointer) != 1 {
                throw .noSystemStore(OpenSSLErrors.take().text)
            }
        } catch {
            unsafe SSL_CTX_free(pointer)
            throw error
        }
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        return unsafe TLSContext(
            pointer,
            .client,
            expiry: expiry,
            verifiesPeer: true,
            trustsSystem: files.authority == .system
        )
    }

    private static func make(
        _ side: Side,
        _ files: TLSCertificateFiles?,
        servesHTTP: Bool = false
    ) throws(TLSFileError) -> (OpaquePointer, TLSDate?) {
        // As a program exits, OpenSSL would free what connections still use on other threads.
        guard OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1 else {
            fatalError("OpenSSL cannot be prepared: \(OpenSSLErrors.take().text).")
        }
        OpenSSLErrors.clear()
        let method = unsafe side == .server ? TLS_server_method() : TLS_client_method()
        guard let pointer = unsafe SSL_CTX_new(method) else {
            fatalError("OpenSSL makes no context: \(OpenSSLErrors.take().text).")
        }
        let isSet =
            switch side {
            case .server:
                unsafe copenssl_set_server(pointer, TLSLimits.ticketSeconds, servesHTTP ? 1 : 0)
            case .client: unsafe copenssl_set_client(pointer)
            }
        guard isSet == 1, unsafe copenssl_set_common(pointer) == 1 else {
            fatalError("OpenSSL does not speak TLS 1.3: \(OpenSSLErrors.take().text).")
        }
        unsafe copenssl_limit_peer_chain(pointer, TLSLimits.maximumPeerChainByteCount)
        unsafe SSL_CTX_set_verify_depth(pointer, TLSLimits.maximumPeerChainDepth)
        guard let files else { return unsafe (pointer, nil) }
        do throws(TLSFileError) {
            return unsafe (pointer, try use(files, in: pointer))
        } catch {
            unsafe SSL_CTX_free(pointer)
            throw error
        }
    }

    /// Gives the context its certificate and key; returns the end of the certificate.
    private static func use(
        _ files: TLSCertificateFiles,
        in context: OpaquePointer
    ) throws(TLSFileError) -> TLSDate {
        let path = files.certificatePath
        return unsafe try PEMFile(path, isPrivate: false).withCertificates {
            (certificates) throws(TLSFileError) in
            guard let own = unsafe certificates.first else { throw .noCertificate(path) }
            let expiry = unsafe try checkDates(of: own, path)
            guard unsafe SSL_CTX_use_certificate(context, own) == 1 else {
                throw .refused(path, OpenSSLErrors.take().text)
            }
            for index in unsafe certificates.indices.dropFirst() {
                let next = unsafe certificates[index]
                unsafe X509_up_ref(next)
                guard unsafe copenssl_add_chain(context, next) == 1 else {
                    unsafe X509_free(next)
                    throw .refused(path, OpenSSLErrors.take().text)
                }
            }
            // Last, as only `withKey` overwrites what was read.
            var keyFile = try PEMFile(files.keyPath, isPrivate: true)
            unsafe try keyFile.withKey { (key) throws(TLSFileError) in
                guard unsafe X509_check_private_key(own, key) == 1 else {
                    OpenSSLErrors.clear()
                    throw .keyDoesNotFit(key: files.keyPath, certificate: path)
                }
                guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1 else {
                    throw .refused(files.keyPath, OpenSSLErrors.take().text)
                }
            }
            return expiry
        }
    }

    /// Refuses a certificate that is not valid now; returns the end of its validity.
    private static func checkDates(
        of certificate: OpaquePointer,
        _ path: String
    ) throws(TLSFileError) -> TLSDate {
        let begin = unsafe X509_get0_notBefore(certificate)
        let end = unsafe X509_get0_notAfter(certificate)
        let expiry = unsafe TLSDate(unixSeconds: copenssl_unix_seconds(end))
        guard unsafe X509_cmp_current_time(begin) < 0 else {
            throw .notYetValid(path, unsafe TLSDate(unixSeconds: copenssl_unix_seconds(begin)))
        }
        guard unsafe X509_cmp_current_time(end) > 0 else { throw .expired(path, expiry) }
        return expiry
    }

    /// Trusts the certificates of a file as signers of those of peers.
    private static func trust(
        _ file: PEMFile,
        in context: OpaquePointer,
        asksClients: Bool
    ) throws(TLSFileError) {
        unsafe try file.withCertificates { (certificates) throws(TLSFileError) in
            let store = unsafe SSL_CTX_get_cert_store(context)
            for index in unsafe certificates.indices {
                let authority = unsafe certificates[index]
                guard unsafe X509_STORE_add_cert(store, authority) == 1,
                    unsafe !asksClients || SSL_CTX_add_client_CA(context, authority) == 1
                else { throw .refused(file.path, OpenSSLErrors.take().text) }
            }
        }
    }
}

package struct TLSServerFiles: Sendable, Hashable {
    package var certificate: TLSCertificateFiles
    /// The certificates that sign those of clients; nil asks clients for none.
    package var clientAuthorityPath: String?
    /// Whether the server speaks HTTP/1.1, to which a client may come without a certificate too, and not
    /// the protocol of the feed.
    package var servesHTTP = false

    package init(certificate: TLSCertificateFiles, clientAuthorityPath: String? = nil) {
        self.certificate = certificate
        self.clientAuthorityPath = clientAuthorityPath
    }
}

/// The errors that OpenSSL has noted for the calling thread.
enum OpenSSLErrors {
    /// Forgets them: an old one would be taken for the reason of the next failure.
    static func clear() { ERR_clear_error() }

    /// The reason of the first one, in OpenSSL's words, and its code; forgets all.
    static func take() -> (code: Int32, text: String) {
        let error = ERR_get_error()
        defer { clear() }
        guard error != 0 else { return (0, "the connection broke") }
        let code = ERR_GET_REASON(error)
        guard let reason = unsafe ERR_reason_error_string(error) else {
            return (code, "error \(code) of OpenSSL")
        }
        return (code, unsafe String(cString: reason))
    }
}
